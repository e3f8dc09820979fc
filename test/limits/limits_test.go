package limits_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"netdyno/test/limits"
	"netdyno/test/programs"
)

// recorded holds the trials that were kept by
// go run ./truth -only limits -record test/limits/testdata.
const recorded = "testdata"

func TestLimitsAreNamed(t *testing.T) {
	for _, s := range limits.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			named, err := s.Recorded(recorded)
			if err != nil {
				t.Fatal(err)
			}
			check(t, s, named)
		})
	}
}

// Of a live limit and a live flag it is seen that trials still read as the
// recorded ones do. Other programs on the machine hardly change what causes them.
func TestProvokedLimitsAreNamed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	live := []string{"a closed loop over a long way", "a full link beside a busy process for each CPU", "more offered than the link carries"}
	bin := filepath.Dir(programs.Path(t, "netdyno"))
	for _, s := range limits.Scenarios() {
		if !slices.Contains(live, s.Name) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			named, err := s.Provoke(t.Context(), bin)
			if errors.Is(err, limits.ErrBusy) {
				t.Skipf("%v; the last answer was %s (%s), want %s", err, named.Got, named.Proof, named.Want)
			}
			if err != nil {
				t.Fatal(err)
			}
			check(t, s, named)
		})
	}
}

func check(t *testing.T, s limits.Scenario, named limits.Named) {
	t.Helper()
	t.Logf("%s: %s", named.Got, named.Proof)
	if !named.OK {
		t.Errorf("%s (%s); want %s with %q in its words", named.Got, named.Proof, named.Want, s.Proof)
	}
}
