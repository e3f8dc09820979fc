//go:build !race

package main

import (
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/worker/workertest"
)

// pretend runs null for a while and returns what it measured.
func pretend(t *testing.T, l contract.Load, options map[string]any, window time.Duration) contract.Result {
	t.Helper()
	c := workertest.Start(t, transports...)
	c.Setup(contract.Setup{
		Transport: "null", Role: contract.Pair, Threads: 1, Load: l, Options: options,
		Exchange: contract.Exchange{UpBytes: 1, DownBytes: 1},
	})
	c.Start()
	c.Mark(1, true)
	time.Sleep(window)
	c.Mark(2, false)
	return c.Stop()
}

// undisturbed repeats an open loop until its own account says that the machine
// let it keep its schedule: what a starved generator measures is no truth.
func undisturbed(t *testing.T, l contract.Load, options map[string]any, window time.Duration) contract.Result {
	t.Helper()
	for begun := time.Now(); time.Since(begun) < 2*workertest.Timeout; {
		r := pretend(t, l, options, window)
		lag := percentiles(t, r.Lag).MaxNs()
		if stretched := r.ToNs - r.FromNs - int64(window); lag < int64(10*time.Millisecond) && stretched < int64(window)/50 {
			return r
		}
	}
	t.Fatal("the machine is too busy: the generator always fell 10 ms behind")
	return contract.Result{}
}

func percentiles(t *testing.T, text string) *hist.Histogram {
	t.Helper()
	h, err := hist.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// A declared service time comes out as it went in. The median is asserted: the
// tail belongs to whoever else uses the machine, and of a few runs the best counts:
// one that came out too short does not pass at all.
func TestTruthServiceTimeInServiceTimeOut(t *testing.T) {
	const service = 5 * time.Millisecond
	for tries := 20; ; tries-- {
		r := pretend(t, contract.Load{Connections: 10}, map[string]any{"service": float64(service)}, 400*time.Millisecond)
		median, ok := percentiles(t, r.Service).Percentile(0.5)
		if low, high := int64(service)*999/1000, int64(service)*102/100; !ok || median < low || median > high && tries == 1 {
			t.Fatalf("median %v of a declared %v", time.Duration(median), service)
		} else if median <= high {
			return
		}
	}
}

// A server that stalls for S once, in an open loop: the exchanges due in the
// stall wait for its end. With N due in S, the response times of those form a
// ramp from S to 0, so over a window W the share S/W waits on average S/2.
// A closed loop sees one slow exchange per slot, and that is all.
func TestTruthStallShowsInTheOpenLoop(t *testing.T) {
	const stall, window, rate = 300 * time.Millisecond, 900 * time.Millisecond, 400.0
	options := map[string]any{"service": float64(time.Millisecond), "stall_at": float64(200 * time.Millisecond), "stall": float64(stall)}
	open := percentiles(t, undisturbed(t, contract.Load{Connections: 400, Rate: rate}, options, window).Response)
	want := float64(stall) / float64(window) * float64(stall) / 2
	if mean := open.MeanNs() - float64(time.Millisecond); mean < want*0.9 || mean > want*1.1 {
		t.Errorf("mean wait %v, the closed form says %v", time.Duration(mean), time.Duration(want))
	}
	// A third of the exchanges fell due in the stall, evenly: the quantile q
	// above two thirds waits (q − 2/3)·W.
	if p90, ok := open.Percentile(0.9); !ok || p90 < int64(200*time.Millisecond) || p90 > int64(220*time.Millisecond) {
		t.Errorf("p90 %v, the closed form says 210 ms", time.Duration(p90))
	}
	closed := percentiles(t, pretend(t, contract.Load{Connections: 4}, options, window).Service)
	if p50, ok := closed.Percentile(0.5); !ok || p50 > int64(2*time.Millisecond) {
		t.Errorf("closed loop median %v, want the service time: four slow exchanges are four", time.Duration(p50))
	}
	if longest := closed.MaxNs(); longest < int64(stall)/2 {
		t.Errorf("closed loop maximum %v hides the stall", time.Duration(longest))
	}
}

// A stall that outlasts the window and the drain must not vanish.
func TestTruthStallAtTheEndIsUnfinished(t *testing.T) {
	options := map[string]any{"stall_at": float64(100 * time.Millisecond), "stall": float64(time.Minute)}
	r := pretend(t, contract.Load{Connections: 5, Rate: 500, DrainNs: 1e8}, options, 300*time.Millisecond)
	// What fell due between the stall's begin and the window's end, at 500/s.
	inWindow := float64(r.ToNs-r.FromNs) / 1e9
	least, most := int64((inWindow-0.1)*500)-10, int64(inWindow*500)+10
	if r.Unfinished < least || r.Unfinished > most || percentiles(t, r.Ages).MaxNs() < int64(250*time.Millisecond) {
		t.Errorf("%d unfinished, the oldest %v; want %d to %d and the stall's length",
			r.Unfinished, time.Duration(percentiles(t, r.Ages).MaxNs()), least, most)
	}
}
