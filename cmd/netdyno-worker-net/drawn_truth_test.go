//go:build !race

package main

import (
	"math"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// What null sent at 50,000 a second has the declared sizes within a Kolmogorov distance of
// 0.02, and all that fell due was sent: of even, drawn and bursting arrivals.
func TestSentSizesAreThoseDeclared(t *testing.T) {
	const rate = 50_000.0
	table := contract.Table{{1 << 30, 1, 64}, {3 << 30, 65, 1024}, {4_200_000_000, 1025, 65_536}, {contract.TableEnd, 65_537, 1 << 20}}
	var bounds []int64
	for _, s := range table {
		bounds = append(bounds, (s[1]+s[2])/2, s[2])
	}
	for name, l := range map[string]contract.Load{
		"constant": {}, "poisson": {Arrival: contract.Poisson},
		"drawn": {Arrival: contract.Drawn, Gaps: contract.Table{{3 << 30, 0, 1 << 20}, {contract.TableEnd, 1 << 20, 4 << 20}}},
		"burst": {Phases: []contract.Phase{{10e6, 10 * rate, 10 * rate}, {90e6, 0, 0}}, Repeat: true},
	} {
		l.Connections, l.Rate = 100, rate
		c := workertest.Start(t, transports...)
		c.Setup(contract.Setup{
			Transport: "null", Role: contract.Pair, Threads: 1, Load: l, Seed: 7, Options: map[string]any{},
			Exchange: contract.Exchange{UpBytes: table.Most(), DownBytes: table.Most(), UpSizes: table, DownSizes: table},
		})
		c.Start()
		c.Mark(1, true)
		time.Sleep(600 * time.Millisecond)
		c.Mark(2, false)
		r := c.Stop()
		lengths := percentiles(t, r.Lengths)
		n := r.Counts.Exchanges + r.Drained
		if lengths.Count() != n || n < 1000 {
			t.Fatalf("%s: %d lengths of %d exchanges", name, lengths.Count(), n)
		}
		last := 0.0
		for i, got := range lengths.Steps().UpTo(bounds) {
			end := float64(table[i/2][0]) / contract.TableEnd
			want := end
			if i%2 == 0 { // half way through a segment
				want = last + (end-last)/2
			} else {
				last = end
			}
			if off := math.Abs(float64(got)/float64(n) - want); off > 0.02 {
				t.Errorf("%s: %.4f of %d sizes are at most %d, want %.4f", name, float64(got)/float64(n), n, bounds[i], want)
			}
		}
		due := r.Inside.Due
		if done := float64(n + r.Unfinished); math.Abs(done-due) > 200+0.02*due {
			t.Errorf("%s: %.0f exchanges of %.0f that fell due", name, done, due)
		}
	}
}
