package metric

import (
	"slices"
	"strings"
	"testing"
)

// Percentiles that are asked for are metrics like the others, in their order; what cannot be
// meant is refused.
func TestPercentilesAreAskedFor(t *testing.T) {
	before := slices.Clone(Percentiles)
	defer func() {
		Percentiles, registry = before, nil
		registry = registered()
		names, places = named(registry)
	}()
	if err := AskPercentiles("99.99", "75", "50.0"); err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, p := range Percentiles {
		labels = append(labels, p.Label)
	}
	if got := strings.Join(labels, " "); got != "p50 p75 p90 p95 p99 p99.9 p99.99" {
		t.Errorf("percentiles are %s", got)
	}
	if m, err := Named("response_p9999_us"); err != nil || m.Share != 0.9999 {
		t.Errorf("%v, %v", m.Share, err)
	}
	if ValuesOf(map[string]float64{"service_p75_us": 3}).At("service_p75_us") != 3 {
		t.Error("a trial's figures lack p75")
	}
	for _, bad := range []string{"0", "100", "p99", "", "1e-3", "NaN", "9.5,95"} {
		if err := AskPercentiles(strings.Split(bad, ",")...); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
