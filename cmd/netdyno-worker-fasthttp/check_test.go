//go:build !race

package main

import (
	"os/exec"
	"path/filepath"
	"testing"

	"netdyno/internal/run/check"
)

// What `netdyno check` asks of anybody's worker.
func TestConforms(t *testing.T) {
	program := filepath.Join(t.TempDir(), "netdyno-worker-fasthttp")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	const patience = 5 // other tests share the machine
	outcomes, err := check.Run(t.Context(), []string{program}, check.Options{Patience: patience})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		if !o.Pass && !o.Skipped { // skipped are the cases of wires that it does not speak
			t.Errorf("%s %s: %s", o.Transport, o.Case, o.Text)
		}
	}
	if least := 30; len(outcomes) < least {
		t.Errorf("%d cases, expected at least %d", len(outcomes), least)
	}
}
