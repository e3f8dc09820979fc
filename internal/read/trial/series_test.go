package trial

import (
	"math"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// A load generator's ticks count heads of replies too; its course has the rate of its
// result, and another client's stays as it is.
func TestTheCourseOfALoadGeneratorHasItsRate(t *testing.T) {
	for foreign, want := range map[bool]float64{true: 1000, false: 1100} {
		g := &record.Worker{
			Ready:  &contract.Ready{Foreign: foreign},
			Open:   &record.Edge{Reading: contract.Reading{Counts: contract.Counts{Exchanges: 220}}},
			Close:  &record.Edge{Reading: contract.Reading{Counts: contract.Counts{Exchanges: 1320}}},
			Result: &contract.Result{ToNs: 1_000_000_000, Counts: contract.Counts{Exchanges: 1000}},
			Ticks:  []contract.Tick{{AtNs: 200_000_000, Exchanges: 440}, {AtNs: 400_000_000, Exchanges: 660}, {AtNs: 600_000_000, Exchanges: 880}},
		}
		slices := seriesOf(record.Timeline{}, []*record.Worker{g})
		if len(slices) != 2 {
			t.Fatalf("there are %d slices", len(slices))
		}
		for _, s := range slices {
			if math.Abs(s.ExchangesPerS-want) > 1e-6 {
				t.Errorf("foreign %v: %v/s, want %v", foreign, s.ExchangesPerS, want)
			}
		}
	}
}
