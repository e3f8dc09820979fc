package report

import (
	"math"
	"testing"

	"netdyno/internal/read/part"
)

func TestProbability(t *testing.T) {
	for p, want := range map[float64]string{0.00001: "<0.0001", 0.0078: "0.0078", 0.61: "0.61", 1: "1.00", math.NaN(): "–"} {
		if got := part.Probability(p); got != want {
			t.Errorf("probability(%v) = %q, want %q", p, got, want)
		}
	}
}
