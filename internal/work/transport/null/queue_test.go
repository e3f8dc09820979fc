package null

import (
	"math"
	"testing"

	"netdyno/internal/work/load"
)

func options(slots, service int64, law string) load.Options {
	return load.Options{"slots": slots, "service": service, "law": law}
}

func TestServersTakeTheEarliestFree(t *testing.T) {
	q := newQueue(options(2, 10, "fixed"), 1)
	var got []int64
	for _, now := range []int64{0, 1, 2, 3, 100} {
		got = append(got, q.completion(now))
	}
	for i, want := range []int64{10, 11, 20, 21, 110} {
		if got[i] != want {
			t.Errorf("exchange %d completes at %d, want %d", i, got[i], want)
		}
	}
	if newQueue(options(0, 10, "fixed"), 1) != nil {
		t.Error("without slots there is a queue")
	}
}

func TestExponentialServiceHasItsMeanAndItsSeed(t *testing.T) {
	const n, mean = 20_000, 1_000_000
	sum := func(seed uint64) (sum int64) {
		q := newQueue(options(0, mean, "exponential"), seed)
		for range n {
			sum += q.completion(0)
		}
		return sum
	}
	got := float64(sum(1)) / n
	if math.Abs(got/mean-1) > 4/math.Sqrt(n) {
		t.Errorf("mean %.0f ns, want %d", got, mean)
	}
	if one, again, other := sum(1), sum(1), sum(2); one != again || one == other {
		t.Error("service times do not follow the seed alone")
	}
}
