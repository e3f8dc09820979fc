package foreign_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"netdyno/internal/read/sizes"
	"netdyno/test/programs"
)

// loadsOf runs netdyno on URLs with --as-json, and returns what it found of the first load.
func loadsOf(t *testing.T, args ...string) (load struct{ Classes, Paths, Steps []sizes.Sort }) {
	t.Helper()
	c := exec.CommandContext(t.Context(), filepath.Join(bin, "netdyno"), append(slices.Clone(args), "--as-json", "--out", filepath.Join(t.TempDir(), "out"))...)
	c.Dir = t.TempDir()
	text, err := c.Output()
	var document struct {
		Loads []struct{ Classes, Paths, Steps []sizes.Sort }
	}
	if json.Unmarshal(text, &document) != nil || len(document.Loads) == 0 {
		t.Fatalf("netdyno %q ended with %v and left no loads: %s", args, err, text)
	}
	return document.Loads[0]
}

// counted counts the requests that each path got, and when each came.
type counted struct {
	mu     sync.Mutex
	byPath map[string][]time.Time
	waits  map[string]time.Duration
}

// ServeHTTP implements http.Handler.
func (c *counted) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	c.byPath[r.URL.Path] = append(c.byPath[r.URL.Path], time.Now())
	c.mu.Unlock()
	time.Sleep(c.waits[r.URL.Path])
	_, _ = w.Write([]byte("hello"))
}

func newCounted() *counted {
	return &counted{byPath: map[string][]time.Time{}, waits: map[string]time.Duration{"/quick": 20 * time.Millisecond, "/slow": 100 * time.Millisecond}}
}

// Paths of 20 and 100 ms are two lines with a median each, and so are classes of a workload.
func TestAMixtureIsALineEach(t *testing.T) {
	programs.Whole(t)
	s := httptest.NewServer(newCounted())
	defer s.Close()
	files := t.TempDir()
	for name, text := range map[string]string{
		"paths":         "/quick\n/slow\n/quick\n",
		"workload.yaml": "classes:\n - {name: /quick, weight: 2, path: /quick}\n - {name: /slow, weight: 1, path: /slow}\n",
	} {
		if err := os.WriteFile(filepath.Join(files, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	paths := loadsOf(t, s.URL+"/", "--paths", filepath.Join(files, "paths"), "-c", "8", "-d", "6s").Paths
	classes := loadsOf(t, s.URL+"/quick", "--workload", filepath.Join(files, "workload.yaml"), "-c", "8", "-d", "6s").Classes
	for _, rows := range [][]sizes.Sort{paths, classes} {
		if len(rows) != 2 || rows[0].Class != "/quick" || rows[1].Class != "/slow" {
			t.Fatalf("found %+v", rows)
		}
		for i, waits := range []float64{20e3, 100e3} {
			if p50 := rows[i].P50; p50.N == 0 || p50.Value < waits || p50.Value > 1.1*waits+5e3 || rows[i].Errors > 0 {
				t.Errorf("p50 of %s is %.0f µs (%d errors), want %.0f", rows[i].Class, p50.Value, rows[i].Errors, waits)
			}
		}
	}
}

// What a step answered is what came to the server while it lasted.
func TestStepsAreCountedApart(t *testing.T) {
	programs.Whole(t)
	c := newCounted()
	s := httptest.NewServer(c)
	defer s.Close()
	steps := loadsOf(t, s.URL+"/quick", "-c", "20", "arrival=steps:40,80,160/2s").Steps
	if len(steps) != 3 {
		t.Fatalf("found %+v", steps)
	}
	came := c.byPath["/quick"]
	for i := 2; i >= 0; i-- { // the last step's requests came last, the others' before
		want := steps[i].Offered * 2
		last := came[len(came)-1]
		from, _ := slices.BinarySearchFunc(came, last.Add(-time.Duration(1e9/steps[i].Offered*(want-0.5))), time.Time.Compare)
		if n := float64(len(came) - from); n < want-3 || n > want+3 || float64(steps[i].Requests) != want {
			t.Errorf("step %s: the server took %.0f requests and the client counts %d, want %.0f", steps[i].Class, n, steps[i].Requests, want)
		}
		came = came[:from]
	}
}
