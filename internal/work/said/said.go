// Package said finds figures in what a program printed that measures itself: by a
// regular expression, or by a path into JSON.
package said

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
)

// Finder says where a figure stands in a program's output. The zero Finder finds
// nothing and is Empty.
type Finder struct {
	text    string         // as it was written
	pattern *regexp.Regexp // each of its groups is a figure
	path    []string       // keys and indices into one JSON value; "*" is every one
}

// The kinds of finders, by how their text begins.
const (
	byPattern = "regexp:"
	byPath    = "json:"
)

// mostText bounds a finder's text in bytes.
const mostText = 4 << 10

// Parse reads a finder: "regexp:PATTERN" with a group around each figure, or
// "json:KEY.KEY…". "" is the empty finder.
func Parse(text string) (Finder, error) {
	f := Finder{text: text}
	pattern, isPattern := strings.CutPrefix(text, byPattern)
	path, isPath := strings.CutPrefix(text, byPath)
	switch {
	case text == "":
		return f, nil
	case len(text) > mostText:
		return f, fmt.Errorf("has %d bytes, expected at most %d", len(text), mostText)
	case isPattern:
		p, err := regexp.Compile(pattern)
		if err != nil {
			return f, fmt.Errorf("%w, in %q", err, pattern)
		}
		if p.NumSubexp() == 0 {
			return f, fmt.Errorf("%q has no group, expected one around the figure, such as %q", text, `regexp:Requests/sec:\s+([0-9.]+)`)
		}
		f.pattern = p
		return f, nil
	case isPath:
		f.path = strings.Split(path, ".")
		if slices.Contains(f.path, "") {
			return f, fmt.Errorf("%q has an empty key, expected keys with a dot between them, such as \"json:latency.p99\"", text)
		}
		return f, nil
	}
	kind, _, _ := strings.Cut(text, ":")
	return f, fmt.Errorf("%q begins with neither %s nor %s; %s", text, byPattern, byPath, quantity.Hint(kind+":", []string{byPattern, byPath}))
}

// Empty reports that nothing is to be found.
func (f Finder) Empty() bool { return f.text == "" }

// String returns the text that Parse read.
func (f Finder) String() string { return f.text }

// Output is what a program printed, by stream.
type Output struct{ Stdout, Stderr []byte }

// Sum adds up every figure that is found: of a pattern each group of each match on
// both streams. found is false where there is none; an error is JSON that cannot be
// read, or something that is no number.
func (f Finder) Sum(o Output) (sum float64, found bool, err error) {
	texts, err := f.texts(o)
	for _, text := range texts {
		n, err := number(text)
		if err != nil {
			return 0, false, fmt.Errorf("%s: %w", f, err)
		}
		sum += n
	}
	return sum, len(texts) > 0, err
}

// texts returns what stands where the finder looks.
func (f Finder) texts(o Output) (texts []string, err error) {
	if f.path != nil {
		return f.values(o.Stdout)
	}
	if f.pattern == nil {
		return nil, nil
	}
	for _, stream := range [][]byte{o.Stdout, o.Stderr} {
		for _, match := range f.pattern.FindAllSubmatch(stream, -1) {
			for _, group := range match[1:] {
				if group != nil {
					texts = append(texts, string(group))
				}
			}
		}
	}
	return texts, nil
}

// values follows the path into the one JSON value of an output.
func (f Finder) values(stdout []byte) ([]string, error) {
	decoder := json.NewDecoder(bytes.NewReader(stdout))
	decoder.UseNumber()
	var root any
	if err := decoder.Decode(&root); err != nil {
		return nil, fmt.Errorf("%s: read the output as JSON: %w", f, err)
	}
	at := []any{root}
	for _, key := range f.path {
		var next []any
		for _, value := range at {
			next = append(next, below(value, key)...)
		}
		at = next
	}
	texts := make([]string, 0, len(at))
	for _, value := range at {
		switch v := value.(type) {
		case json.Number:
			texts = append(texts, v.String())
		case string:
			texts = append(texts, v)
		default:
			return nil, fmt.Errorf("%s: what stands there is no number", f)
		}
	}
	return texts, nil
}

// below returns what a value holds under a key, an index or "*".
func below(value any, key string) []any {
	switch v := value.(type) {
	case map[string]any:
		if key == "*" {
			var all []any
			for _, name := range slices.Sorted(maps.Keys(v)) {
				all = append(all, v[name])
			}
			return all
		}
		if inner, ok := v[key]; ok {
			return []any{inner}
		}
	case []any:
		if key == "*" {
			return v
		}
		if i, err := strconv.Atoi(key); err == nil && i >= 0 && i < len(v) {
			return []any{v[i]}
		}
	}
	return nil
}

// number reads a figure with digits grouped or not.
func number(text string) (float64, error) {
	n, err := strconv.ParseFloat(strings.ReplaceAll(strings.TrimSpace(text), ",", ""), 64)
	if err != nil || !(n >= 0) || n > most {
		return 0, fmt.Errorf("%.40q is no number from 0 to 1e18", text)
	}
	return n, nil
}

// most bounds a figure: beyond it counts in float64 are no longer whole, and sums
// of them do not fit an int64.
const most = 1e18
