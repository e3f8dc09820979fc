package trial

import (
	"fmt"
	"strings"
	"testing"

	"netdyno/internal/record"
)

// pooled is a trial of a closed loop against a server that works at size exchanges at a
// time, each for ms milliseconds of which work are CPU time.
func pooled(connections int, size, ms, work float64) *Judged {
	inFlight := float64(connections)
	mean := ms * max(1, inFlight/size) * 1e6
	rate := inFlight / mean * 1e9
	return loaded(connections, served{
		rate: rate, inFlight: inFlight, mean: mean, p10: 0.98 * mean, p50: mean, p90: 1.05 * mean, cores: rate * work / 1e3, trip: 30e3,
	})
}

func loaded(connections int, s served) *Judged {
	return &Judged{
		Plan:   record.Trial{Arm: "url", Levels: map[string]string{"connections": fmt.Sprint(connections)}},
		Trial:  Trial{Status: Valid, Limit: Latency, LimitProof: "no CPU was full"},
		served: s,
	}
}

func TestAPoolIsNamedByItsSize(t *testing.T) {
	for _, c := range []struct {
		name           string
		connections    []int
		size, ms, work float64
		change         func([]*Judged)
		want           string // of the proof; "" for no pool
	}{
		{"20 of 50 ms", []int{5, 10, 20, 40, 80}, 20, 50, 0.1, nil, "it serves 20 at a time, 50.0 ms each: its rate is 400/s"},
		{"a lock", []int{1, 2, 8}, 1, 5, 0.1, func(all []*Judged) { all[0].served.rate *= 0.85 }, "it serves 1 at a time, 5.00 ms each"},
		{"never full", []int{5, 10, 15}, 20, 50, 0.1, nil, ""},
		{"full at one load alone", []int{5, 10, 28}, 20, 50, 0.1, nil, ""},
		{"full at the least load already", []int{40, 80, 160}, 20, 50, 0.1, nil, ""},
		{"two loads", []int{5, 80}, 20, 50, 0.1, nil, ""},
		{"it computes", []int{1, 2, 4, 8}, 2, 5, 4, nil, ""},
		{"a limiter that delays", []int{5, 10, 20, 40}, 20, 50, 0.1, func(all []*Judged) {
			for _, v := range all {
				v.served.rate, v.served.mean = 10, v.served.inFlight*100e6
			}
			all[0].served.p50, all[0].served.p10, all[0].served.p90 = 1e6, 1e6, 1e6
		}, ""},
		{"times that vary, and no load at which none waits", []int{15, 20, 40, 80}, 20, 50, 0.1, func(all []*Judged) { all[0].served.p10 /= 2 }, ""},
		{"a CPU was full", []int{5, 10, 20, 40, 80}, 20, 50, 0.1, func(all []*Judged) {
			for _, v := range all[2:] {
				v.Trial.Limit = ServerCore
			}
		}, ""},
		{"a long way", []int{5, 10, 20, 40, 80}, 20, 50, 0.1, func(all []*Judged) {
			for _, v := range all {
				v.served.trip = 20e6
			}
		}, ""},
	} {
		var all []*Judged
		for _, n := range c.connections {
			all = append(all, pooled(n, c.size, c.ms, c.work))
		}
		if c.change != nil {
			c.change(all)
		}
		LimitByPool(all)
		first, last := all[0].Trial, all[len(all)-1].Trial
		if named := last.Limit == Pool; named != (c.want != "") || !strings.Contains(last.LimitProof, c.want) || first.Limit == Pool {
			t.Errorf("%s: %s (%s), at the least load %s; want %q", c.name, last.Limit, last.LimitProof, first.Limit, c.want)
		}
	}
}

// Each URL has its own pool.
func TestPoolsOfArmsAreApart(t *testing.T) {
	var all []*Judged
	for _, n := range []int{5, 10, 20, 40, 80} {
		slow, fast := pooled(n, 20, 50, 0.1), pooled(n, 1000, 50, 0.1)
		fast.Plan.Arm = "other"
		all = append(all, slow, fast)
	}
	LimitByPool(all)
	if slow, fast := all[8].Trial, all[9].Trial; slow.Limit != Pool || fast.Limit != Latency {
		t.Errorf("%s and %s; want pool and latency", slow.Limit, fast.Limit)
	}
}
