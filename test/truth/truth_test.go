package truth

import (
	"errors"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/test/programs"
)

// built returns the directory of the programs.
func built(t *testing.T) string {
	t.Helper()
	return filepath.Dir(programs.Path(t, "netdyno"))
}

// What is injected comes out, in both loops, of the client that waits for each
// connection by a timer; make truth measures the other transports too.
func TestInjectedTruthComesOut(t *testing.T) {
	all, err := Measure(t.Context(), built(t), "go-net")
	if errors.Is(err, ErrBusy) {
		defer t.Skip(err) // what was measured is held to its truth first
	} else if err != nil {
		t.Error(err)
	}
	worst := 0.0
	for _, e := range all {
		t.Log(e)
		worst = max(worst, math.Abs(e.Share()))
		if math.Abs(e.Share()) > Bound {
			t.Errorf("%s: off by more than %v %%", e, 100*Bound)
		}
		if strings.HasSuffix(e.Figure, "p50") && math.Abs(float64(e.Truth)/float64(e.Asked)-1) > Bound {
			t.Errorf("%s: the relay injected something else than it was asked for", e)
		}
	}
	t.Logf("percentile error against injected truth: worst %.2f %% of %d", 100*worst, len(all))
}
