//go:build !race

package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"netdyno/internal/run/check"
)

// The program that is checked is built without the race detector, so that it
// would find nothing here.
func TestConformance(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "netdyno-worker-brpc")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	outcomes, err := check.Run(t.Context(), []string{program}, check.Options{Patience: 4})
	if err != nil {
		t.Fatal(err)
	}
	passed := 0
	for _, o := range outcomes {
		switch {
		case o.Pass:
			passed++
		case !o.Skipped:
			t.Errorf("%s %s: %s", o.Transport, o.Case, o.Text)
		}
	}
	if passed < 30 {
		t.Errorf("only %d cases passed of %d", passed, len(outcomes))
	}
}
