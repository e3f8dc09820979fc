package profile

import (
	"slices"
	"testing"
)

// What a difference says is what its tables hold, and its parts sum to the whole.
func TestDifferencesInWords(t *testing.T) {
	change := func(name string, difference float64, told bool) Change {
		return Change{Name: name, Arm: 20 + difference, Base: 20, Difference: difference, Low: difference - 1, High: difference + 1, Told: told}
	}
	d := Difference{
		Arm: "go-net", Base: "go-epoll", End: "server", Metric: "server.cpu_us_per_exchange", Pairs: 4,
		Whole:      change("", 17, true),
		Activities: []Change{change("scheduler", 9, true), change("system calls", 5, true), change("kernel: polling, wakeups", -2, true), change("rest", 5, false)},
		Functions:  []Change{{Name: "runtime.schedule", Activity: "scheduler", Difference: 4, Told: true}, {Name: "runtime.mcall", Activity: "scheduler", Difference: 1}},
	}
	for _, c := range []struct {
		change func(*Difference)
		want   string
	}{
		{func(*Difference) {}, "The server of go-net needs 17.0 µs more CPU per exchange than that of go-epoll (16.0–18.0, 4 pairs of probes): " +
			"9.00 µs more in waking and scheduling goroutines (runtime.schedule), 5.00 µs more in system calls and 2.00 µs less in the kernel's wake-ups and polling."},
		{func(d *Difference) { d.Pairs = 1 }, "The server of go-net needs 37.0 µs of CPU per exchange, that of go-epoll 20.0, by one pair of probes; " +
			"with three (probes=3) it can be told in what they differ."},
		{func(d *Difference) { d.Whole.Told = false }, ""},
		{func(d *Difference) { d.Activities = nil }, "The server of go-net needs 17.0 µs more CPU per exchange than that of go-epoll (16.0–18.0, 4 pairs of probes); " +
			"in what is not told apart from noise."},
		{func(d *Difference) {
			for i := range d.Activities {
				d.Activities[i].Told = false
			}
		}, "The server of go-net needs 17.0 µs more CPU per exchange than that of go-epoll (16.0–18.0, 4 pairs of probes); " +
			"in what is not told apart from noise; the largest seem to be 9.00 in waking and scheduling goroutines (8.00–10.0) and 5.00 in system calls (4.00–6.00)."},
		{func(d *Difference) { d.Source, d.Activities = NoKernel, nil }, "The server of go-net needs 37.0 µs of CPU per exchange, that of go-epoll 20.0, by 4 pairs of probes; " +
			"perf was not permitted to see the kernel, so it cannot be told in what they differ (sudo sysctl kernel.perf_event_paranoid=1 permits it)."},
		{func(d *Difference) { d.Source, d.Activities = Mixed, d.Activities[:1] }, "The server of go-net needs 17.0 µs more CPU per exchange than that of go-epoll (16.0–18.0, 4 pairs of probes): " +
			"9.00 µs more in waking and scheduling goroutines (runtime.schedule). " +
			"Sources differ: perf sees into the kernel and Go's own profiler does not, so the kernel's work counts here as system calls and scheduler."},
	} {
		d := d
		d.Activities = slices.Clone(d.Activities)
		c.change(&d)
		if got := d.sentence(); got != c.want {
			t.Errorf("%s\nwant %s", got, c.want)
		}
	}
}
