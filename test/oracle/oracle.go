// Package oracle keeps what netdyno finds and plans as paths and values, so that a step
// that retires code shows which of them it changed. It goes when that work is done.
package oracle

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"netdyno/internal/record"
)

// Values are what is compared, by path.
type Values map[string]string

// names are the fields that tell elements of a list apart, so that one that goes does not
// move the others.
var names = []string{"id", "name", "study", "cell", "arm", "base", "metric", "trial", "end", "seat", "kind", "factor", "role", "title"}

// Of flattens a value's JSON: numbers, truths and words, but no prose and no field of the
// names that are left out.
func Of(value any, left ...string) (Values, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	v := Values{}
	err = d.Decode(&tree)
	v.add("", tree, left)
	return v, err
}

func (v Values) add(path string, tree any, left []string) {
	switch x := tree.(type) {
	case map[string]any:
		for key, below := range x {
			if !slices.Contains(left, key) {
				v.add(path+"/"+key, below, left)
			}
		}
	case []any:
		seen := map[string]int{}
		for i, element := range x {
			key := nameOf(element)
			if seen[key]++; key == "" {
				key = strconv.Itoa(i)
			} else if seen[key] > 1 {
				key += "#" + strconv.Itoa(seen[key])
			}
			v.add(path+"["+key+"]", element, left)
		}
	case string:
		if len(x) <= 60 && !strings.ContainsAny(x, " \n") { // no prose
			v[path] = x
		}
	case bool:
		v[path] = strconv.FormatBool(x)
	case json.Number:
		v[path] = x.String()
		if number, err := x.Float64(); err == nil && strings.ContainsAny(v[path], ".eE") {
			v[path] = strconv.FormatFloat(number, 'g', 11, 64)
		}
	}
}

func nameOf(element any) string {
	object, _ := element.(map[string]any)
	var parts []string
	for _, name := range names {
		if s, is := object[name].(string); is && s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, ",")
}

// Plan is a hash of planned trials.
func Plan(trials []record.Trial) string {
	hash := sha256.New()
	err := json.NewEncoder(hash).Encode(trials)
	return fmt.Sprintf("%d:%x%v", len(trials), hash.Sum(nil), err)
}

// alike allows what a library that rounds in another order changes.
func alike(a, b string) bool {
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return a == b || errX == nil && errY == nil && math.Abs(x-y) <= 1e-9*max(math.Abs(x), math.Abs(y))
}

// Compare compares values with those kept in a gzipped file, or rewrites it.
func (v Values) Compare(t testing.TB, file string, update bool) {
	t.Helper()
	if update {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if err := json.NewEncoder(z).Encode(v); err != nil {
			t.Fatal(err)
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	packed, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	var want Values
	if err := json.NewDecoder(z).Decode(&want); err != nil {
		t.Fatal(err)
	}
	delete(want, "/schema") // which counts changes of form
	var differ []string
	for _, path := range slices.Sorted(maps.Keys(want)) {
		if got, there := v[path]; !there {
			differ = append(differ, "gone: "+path+" = "+want[path])
		} else if !alike(got, want[path]) {
			differ = append(differ, path+" = "+got+", was "+want[path])
		}
	}
	for _, path := range slices.Sorted(maps.Keys(v)) {
		if _, there := want[path]; !there {
			differ = append(differ, "new: "+path+" = "+v[path])
		}
	}
	parts := map[string]int{}
	for _, path := range differ {
		part, _, _ := strings.Cut(path[strings.Index(path, "/")+1:], "[")
		parts[strings.Fields(part)[0]]++
	}
	if n := len(differ); n > 0 {
		t.Errorf("%d of %d values differ, by part %v; -update keeps the new ones:\n%s", n, len(want), parts, strings.Join(differ[:min(n, 20)], "\n"))
	}
}
