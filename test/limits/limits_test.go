package limits_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"netdyno/test/limits"
)

const bin = "../../bin"

func TestLimitsAreNamed(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("namespaces need root")
	}
	if _, err := os.Stat(filepath.Join(bin, "netdyno")); err != nil {
		t.Skip("no programs in " + bin + ": `make build` puts them there")
	}
	for _, s := range limits.Scenarios() {
		t.Run(s.Name, func(t *testing.T) {
			named, err := s.Provoke(t.Context(), bin)
			if errors.Is(err, limits.ErrBusy) {
				t.Skipf("%v; the last answer was %s (%s), want %s", err, named.Got, named.Proof, named.Want)
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%s: %s", named.Got, named.Proof)
			if !named.OK {
				t.Errorf("%s (%s); want %s with %q in its words", named.Got, named.Proof, named.Want, s.Proof)
			}
		})
	}
}
