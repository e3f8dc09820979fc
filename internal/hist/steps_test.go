package hist

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// What is told from the steps is what the library tells from its counts.
func TestStepsSayWhatTheLibrarySays(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := New()
		for range rapid.IntRange(0, 60).Draw(t, "values") {
			h.Record(rapid.Int64Range(0, MaxNs).Draw(t, "ns")>>rapid.IntRange(0, 38).Draw(t, "shift"), rapid.Int64Range(1, 1000).Draw(t, "n"))
		}
		if h.MaxNs() != h.h.Max() || math.Abs(h.MeanNs()-h.h.Mean()) > 1e-12*h.h.Mean() {
			t.Fatalf("most %d, mean %v; want %d and %v", h.MaxNs(), h.MeanNs(), h.h.Max(), h.h.Mean())
		}
		n := 0
		for _, bar := range h.h.Distribution() {
			if bar.Count == 0 {
				continue
			}
			if got := h.Steps()[n]; got.count != bar.Count || got.middleNs() != bar.From+(bar.To-bar.From)/2 {
				t.Fatalf("step %d is %+v, want %+v", n, got, bar)
			}
			n++
		}
		if n != len(h.Steps()) {
			t.Fatalf("%d steps, want %d", len(h.Steps()), n)
		}
		for _, q := range []float64{0.5, 0.9, 0.99} {
			if got, ok := h.Percentile(q); ok && got != h.h.ValueAtPercentile(100*float64(h.rank(q))/float64(h.Count())) {
				t.Fatalf("percentile %v is %d", q, got)
			}
		}
	})
}
