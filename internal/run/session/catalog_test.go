package session

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/run/bench"
)

// Whoever needs the workers of a command gets what they were asked once.
func TestWorkersAreAskedOnce(t *testing.T) {
	worker := workplace(t)
	asked := filepath.Join(t.TempDir(), "asked")
	program := filepath.Join(filepath.Dir(worker), "real", bench.WorkerPrefix+scripted)
	if err := os.WriteFile(worker, []byte("#!/bin/sh\necho >> "+asked+"\nexec "+program+"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	var workers Workers
	for range 3 {
		catalog, err := workers.Catalog(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := catalog.Offer(scripted, ""); err != nil {
			t.Error(err)
		}
	}
	if lines, err := os.ReadFile(asked); err != nil || strings.Count(string(lines), "\n") != 1 {
		t.Errorf("the worker was asked %d times, %v; want once", strings.Count(string(lines), "\n"), err)
	}
}
