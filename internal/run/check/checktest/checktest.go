// Package checktest holds worker programs to the contract in their own tests.
package checktest

import (
	"testing"

	"netdyno/internal/run/check"
)

// stretch stretches the contract's times: other tests share the machine.
const stretch = 5

// Passes checks a program, and fails the test for every case of `netdyno check` in which it
// departs from the contract. Cases of wires that it does not speak are skipped, so at least so
// many must have passed.
func Passes(t *testing.T, program string, least int) {
	t.Helper()
	outcomes, err := check.Run(t.Context(), []string{program}, check.Options{Stretch: stretch})
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
	if passed < least {
		t.Errorf("%d cases passed of %d, expected at least %d", passed, len(outcomes), least)
	}
}
