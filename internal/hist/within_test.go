package hist

import (
	"math"
	"testing"
)

func TestWithinCountsWhatLiesBetween(t *testing.T) {
	h := New()
	h.Record(900_000, 3)
	h.Record(1_100_000, 5)
	h.Record(40_000_000, 7)
	for _, c := range []struct {
		from, to, n int64
		sum         float64
	}{
		{0, MaxNs, 15, 2.7e6 + 5.5e6 + 280e6},
		{1_000_000, 1_300_000, 5, 5.5e6},
		{39_000_000, 46_000_000, 7, 280e6},
		{2_000_000, 30_000_000, 0, 0},
		{40_100_000, 30_000_000, 0, 0},
	} {
		n, sum := h.Steps().Within(c.from, c.to)
		if n != c.n || math.Abs(sum-c.sum) > 0.002*c.sum {
			t.Errorf("from %d to %d: %d values of %g ns in all, want %d of %g", c.from, c.to, n, sum, c.n, c.sum)
		}
	}
	if n, sum := New().Steps().Within(0, MaxNs); n != 0 || sum != 0 {
		t.Errorf("an empty histogram holds %d values of %g ns", n, sum)
	}
}
