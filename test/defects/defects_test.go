// Package defects_test holds netdyno against what load tools do wrong: records
// in, findings out, one test named after each defect. What other packages hold
// us to already is in docs/known-defects-of-load-tools.md.
package defects_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// read makes an honest synthetic record, changes it, and returns what the reader
// makes of it.
func read(t *testing.T, o synthetic.Options, change func(*record.Record)) trial.Trial {
	t.Helper()
	o.Blocks, o.Connections, o.Arms = 1, []int{50}, []synthetic.Arm{{Name: "go-net"}}
	header, trials, records := synthetic.Run(o)
	change(&records[0])
	found, err := finding.Find(header, trials[:1], records[:1])
	if err != nil {
		t.Fatal(err)
	}
	return found.Cells[0].Arms[0].Trials[0]
}

// encoded returns the histogram of some values of each duration, recorded as
// workers record.
func encoded(t *testing.T, values func(record func(ns, times int64))) string {
	t.Helper()
	r := hist.NewRecorder()
	values(func(ns, times int64) {
		for range times {
			r.Record(ns)
		}
	})
	text, err := r.Snapshot().Encode()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// within reports whether a metric is there and within a share of a value.
func within(t *testing.T, trial trial.Trial, metric string, want, share float64) {
	t.Helper()
	if got, has := trial.Values.Of(metric); !has || math.Abs(got/want-1) > share {
		t.Errorf("%s is %v (%v), want %v within %v %%; the trial is %s: %s", metric, got, has, want, 100*share, trial.Status, trial.Reason)
	}
}

// A profiler that watches the CPU for twice as long as the load ran reports half
// the cost. Here each rate is divided by the seconds of its own clock, and
// windows that differ are named.
func TestCPUAndOperationsOfDifferentWindows(t *testing.T) {
	const cost = "server.cpu_us_per_exchange"
	honest := read(t, synthetic.Options{}, func(*record.Record) {})
	longer := read(t, synthetic.Options{}, func(r *record.Record) {
		s := &r.Workers[0]
		length := s.Close.Meter.AtNs - s.Open.Meter.AtNs
		used := s.Close.Meter.Process.CPUNs - s.Open.Meter.Process.CPUNs
		s.Close.Meter.AtNs += length // the meter went on for as long again,
		s.Close.Meter.Process.CPUNs += used
		s.Close.Meter.SkewNs = length // as it says
	})
	within(t, longer, cost, honest.Values.At(cost), 0.01)
	if !strings.Contains(strings.Join(longer.Flags, " "), trial.LateCounters) {
		t.Errorf("a meter that is a window late leaves the flags %v (%s), want %s", longer.Flags, longer.Reason, trial.LateCounters)
	}
	idle := read(t, synthetic.Options{}, func(r *record.Record) {
		s := &r.Workers[0]
		s.Close.Reading.AtNs += s.Close.Reading.AtNs - s.Open.Reading.AtNs // and the worker's own window, without work
	})
	if !strings.Contains(strings.Join(idle.Flags, " "), trial.LateCounters) {
		t.Errorf("a server's window of twice the length leaves the flags %v (%s), want %s", idle.Flags, idle.Reason, trial.LateCounters)
	}
}

// A tool that keeps the first million of its samples does not see what comes
// after.
func TestPercentilesOfTheFirstMillion(t *testing.T) {
	const all = 3_000_000
	trial := read(t, synthetic.Options{}, func(r *record.Record) {
		carries(t, r, all, func(record func(ns, times int64)) {
			record(1_000_000, all*2/3)
			record(9_000_000, all/3)
		})
	})
	within(t, trial, "service_p50_us", 1000, 0.001)
	within(t, trial, "service_p99_us", 9000, 0.001)
	within(t, trial, "service_mean_us", 1000*2./3+9000*1./3, 0.001)
}

// carries makes the record's client that of so many exchanges of those service
// times.
func carries(t *testing.T, r *record.Record, exchanges int64, values func(record func(ns, times int64))) {
	t.Helper()
	result := r.Workers[1].Result
	result.Service, result.Drained = encoded(t, values), 0
	result.Counts = contract.Counts{Exchanges: exchanges, SentBytes: 100 * exchanges, ReceivedBytes: 100 * exchanges}
}

// A mean of two clients' p99 is no p99: that of the slower one's exchanges
// decides, weighed by how many they are.
func TestAveragedPercentiles(t *testing.T) {
	trial := read(t, synthetic.Options{Clients: 2}, func(r *record.Record) {
		for i, of := range []struct{ ns, times int64 }{{1_000_000, 9000}, {100_000_000, 1000}} {
			r.Workers[1+i].Result.Service = encoded(t, func(record func(ns, times int64)) { record(of.ns, of.times) })
		}
	})
	within(t, trial, "service_p50_us", 1000, 0.001)
	within(t, trial, "service_p99_us", 100_000, 0.001) // not 50,500
	within(t, trial, "service_mean_us", 0.9*1000+0.1*100_000, 0.001)
}

// A sampler looks a few times a second, and what happens in between it never
// sees. The cumulative clocks at the window's edges hold all of it.
func TestSampledCPU(t *testing.T) {
	const cores, burst = "server.cores", 0.3
	honest := read(t, synthetic.Options{}, func(*record.Record) {})
	bursting := read(t, synthetic.Options{}, func(r *record.Record) {
		r.Workers[0].Close.Meter.Process.CPUNs += burst * 1e9 // between two ticks, which show nothing of it
	})
	if honest.Values.At(cores) == 0 {
		t.Fatalf("no %s among %v", cores, honest.Values)
	}
	within(t, bursting, cores, honest.Values.At(cores)+burst/2, 0.001)
}

// A p99.9 of a thousand values is one value's.
func TestTailOfTwoSamples(t *testing.T) {
	trial := read(t, synthetic.Options{}, func(r *record.Record) {
		carries(t, r, 1500, func(record func(ns, times int64)) {
			record(1_000_000, 1498)
			record(90_000_000, 2)
		})
	})
	within(t, trial, "service_p99_us", 1000, 0.001)
	if p999, has := trial.Values.Of("service_p999_us"); has {
		t.Errorf("p99.9 of 1500 values is %v µs, want none: fewer than 10 values lie beyond it", p999)
	}
}

// Buckets of 1 ms turn 1.03 ms into 1.52 ms.
func TestCoarseBuckets(t *testing.T) {
	for _, us := range []int64{7, 103, 1030, 10_300, 1_030_000} {
		t.Run(fmt.Sprint(us), func(t *testing.T) {
			trial := read(t, synthetic.Options{}, func(r *record.Record) {
				carries(t, r, 2000, func(record func(ns, times int64)) { record(us*1000, 2000) })
			})
			for _, metric := range []string{"service_p50_us", "service_p99_us", "service_mean_us"} {
				within(t, trial, metric, float64(us), 0.001)
			}
		})
	}
}
