package source

import (
	"fmt"
	"slices"
	"testing"

	"netdyno/internal/record"
)

// One transport whose costs are modelled is compared with nothing, so it runs once;
// two are compared, which takes the baseline's own noise.
func TestCostsOfOneTransportRunOnce(t *testing.T) {
	for transports, repeated := range map[string]bool{"go-http1": false, "go-http1,go-grpc": true} {
		trials, _, err := mustArgs(t, "cost", "transport="+transports).Plan()
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.ContainsFunc(trials, func(t record.Trial) bool { return t.Repeat }); got != repeated {
			t.Errorf("%s: the baseline is repeated: %v", transports, got)
		}
	}
}

// From 1 KiB on the middle of every octave is held out, which leaves nothing to choose.
func TestTheMiddleOfEveryOctaveIsHeldOut(t *testing.T) {
	for _, name := range []string{"cost", "cost-stream"} {
		s := mustArgs(t, name)
		for i, factor := range []string{"request", "response"} {
			var held, between []float64
			for _, level := range s.Sweeps[i].Vary[0].Levels {
				if slices.Contains(s.Costs[0].Holdout[factor], level.Text) {
					held = append(held, level.Value)
				}
			}
			for size := 1536.0; size < 4<<20; size *= 2 {
				between = append(between, size)
			}
			if !slices.Equal(held, between) || len(held) != len(s.Costs[0].Holdout[factor]) {
				t.Errorf("%s: of %s are held out %v, expected %v", name, factor, held, between)
			}
		}
		for _, c := range s.Costs[1:] {
			if fmt.Sprint(c.Holdout) != fmt.Sprint(s.Costs[0].Holdout) {
				t.Errorf("%s: %s is held to other cells than %s", name, c.Metric, s.Costs[0].Metric)
			}
		}
	}
}
