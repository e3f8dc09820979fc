package trial_test

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

const (
	theServer = 0
	theClient = 1
)

// recordOf returns the record of one honest trial, changed.
func recordOf(o synthetic.Options, change func(*record.Record)) record.Record {
	o.Arms, o.Connections, o.Blocks = []synthetic.Arm{{Name: "a"}}, []int{50}, 1
	_, _, records := synthetic.Run(o)
	change(&records[0])
	return records[0]
}

// Only what stood still by the meters' beats is a disturbance, and neither what went wrong nor
// what the arm did itself.
func TestDisturbed(t *testing.T) {
	const client = "client-1 and its meter did not run"
	still := [2]float64{0.4, 0.5}
	frozen := func(more func(*record.Record)) func(*record.Record) {
		return func(r *record.Record) {
			beats(&r.Workers[theClient], nil, still)
			more(r)
		}
	}
	grow := func(w *record.Worker, memory time.Duration) {
		w.Open.Meter.Pressure = map[string]int64{"memory": 5}
		w.Close.Meter.Pressure = map[string]int64{"memory": 5 + int64(memory)}
	}
	for _, c := range []struct {
		name   string
		change func(*record.Record)
		why    string
		forNs  time.Duration
	}{
		{"honest", func(*record.Record) {}, "", 0},
		{"a client", frozen(func(*record.Record) {}), client, 100 * time.Millisecond},
		{"the longest of both ends", frozen(func(r *record.Record) { beats(&r.Workers[theServer], nil, [2]float64{0.4, 0.43}, [2]float64{0.6, 0.8}) }),
			"server and its meter did not run", 200 * time.Millisecond},
		{"for less than counts", func(r *record.Record) { beats(&r.Workers[theClient], nil, [2]float64{0.4, 0.42}) }, "", 0},
		{"long before the window", func(r *record.Record) { beats(&r.Workers[theClient], nil, [2]float64{-0.3, -0.2}) }, "", 0},
		{"just before the window", func(r *record.Record) { beats(&r.Workers[theClient], nil, [2]float64{-0.3, -0.05}) }, client, 250 * time.Millisecond},
		{"a late answer to the opening mark alone, which is the worker's", func(r *record.Record) {
			r.Workers[theClient].Open.AnswerNs, r.Workers[theClient].Open.Meter.SkewNs = 250e6, 240e6
		}, "", 0},
		{"across the closing", func(r *record.Record) { beats(&r.Workers[theClient], nil, [2]float64{0.9, 1.2}) }, client, 100 * time.Millisecond},
		{"a signal", func(r *record.Record) {
			beats(&r.Workers[theServer], &contract.Stopped{PID: 4711, Name: "shop"}, still)
		},
			"a signal held shop (process 4711) of server", 100 * time.Millisecond},
		{"a program that waits for the window", func(r *record.Record) {
			beats(&r.Workers[theServer], &contract.Stopped{PID: 4711, Name: "shop"}, [2]float64{-0.3, 0.001})
		}, "", 0},
		{"a quota that was used up", frozen(func(r *record.Record) {
			for i, edge := range []*record.Edge{r.Workers[theClient].Open, r.Workers[theClient].Close} {
				edge.Meter.Group = &contract.Group{Quota: &contract.Quota{AllowedNs: 5e7, PeriodNs: 1e8, Periods: int64(10 * i), Throttled: int64(i)}}
			}
		}), "", 0},
		{"memory that was short", frozen(func(r *record.Record) { grow(&r.Workers[theClient], 60*time.Millisecond) }), "", 0},
		{"memory that was hardly short", frozen(func(r *record.Record) { grow(&r.Workers[theClient], 10*time.Millisecond) }), client, 100 * time.Millisecond},
		{"a fixed amount, of which slow trials are disturbed more often", frozen(func(r *record.Record) { r.Workers[theClient].Setup.Load.Amount = 1000 }), "", 0},
		{"a probe", frozen(func(r *record.Record) { r.Trial.Probe = true }), "", 0},
		{"a failed trial", frozen(func(r *record.Record) { r.Outcome, r.Failure = record.Failed, &record.Failure{Kind: contract.Peer} }), "", 0},
		{"an exchange that failed", frozen(func(r *record.Record) {
			r.Workers[theClient].Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Invalid: 1}
		}), "", 0},
		{"a connection that was lost", frozen(func(r *record.Record) { r.Workers[theClient].Result.Counts.Redialled = 1 }), "", 0},
		{"a connection that was not verified", frozen(func(r *record.Record) { r.Workers[theClient].Ready.Verified-- }), "", 0},
		{"an error that a worker reported", frozen(func(r *record.Record) { r.Workers[theServer].Errors = []contract.Error{{Kind: contract.Bug}} }), "", 0},
	} {
		got := trial.Disturbed(recordOf(synthetic.Options{Window: time.Second}, c.change))
		if off := got.ForNs - int64(c.forNs); got.Why != c.why || off < -1000 || off > 1000 {
			t.Errorf("%s: %+v, want %q for %v", c.name, got, c.why, c.forNs)
		}
	}
}

// Whatever a trial measured, the decision is the same: it cannot choose among results.
func TestNoResultDecidesWhetherATrialIsMadeAgain(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() int64 { return rng.Int64() >> rng.IntN(63) }
	counts := func(c *contract.Counts) {
		c.Exchanges, c.SentBytes, c.ReceivedBytes, c.Connections = number(), number(), number(), number()
	}
	another := func(r *record.Record) {
		for i := range r.Workers {
			w := &r.Workers[i]
			for _, edge := range []*record.Edge{w.Idle, w.Open, w.Close} {
				if edge == nil {
					continue
				}
				counts(&edge.Reading.Counts)
				edge.AnswerNs, edge.Reading.AtNs, edge.Reading.Runtime = number(), number(), &contract.Runtime{GCPauseNs: number()}
				m := edge.Meter
				m.Process, m.Threads, m.CPUs = contract.Process{CPUNs: number()}, []contract.Thread{{CPUNs: number(), WaitNs: number()}}, nil
				m.TCP, m.Interfaces, m.SkewNs = &contract.TCP{ReceivedBytes: number()}, nil, number()
			}
			counts(&w.Result.Counts)
			w.Result.FromNs, w.Result.ToNs, w.Result.Drained, w.Result.Unfinished, w.Result.Own = number(), number(), number(), number(), map[string]float64{"rate": rng.Float64()}
			for _, h := range []*string{&w.Result.Service, &w.Result.Response, &w.Result.Lag} {
				*h = synthetic.Histogram(map[time.Duration]int64{time.Duration(number() % 1e9): 1 + number()%1e6})
			}
			w.Ticks = []contract.Tick{{AtNs: number(), Exchanges: number()}}
			w.Warming = []record.Warming{{AtNs: number(), Exchanges: number(), CPUNs: number()}}
		}
	}
	disturbed := 0
	for n := range 500 {
		rate := 20_000 * float64(n%2)
		r := recordOf(synthetic.Options{Window: time.Second, Rate: rate, Seed: uint64(n)}, func(r *record.Record) {
			at := 1.2*rng.Float64() - 0.1
			beats(&r.Workers[n%3%2], nil, [2]float64{at, at + 0.05*rng.Float64()})
		})
		want := trial.Disturbed(r)
		if want.Why != "" {
			disturbed++
		}
		another(&r)
		if got := trial.Disturbed(r); got != want {
			t.Fatalf("with other results it is %+v, was %+v", got, want)
		}
	}
	if disturbed < 100 || disturbed > 400 {
		t.Errorf("%d of 500 trials are disturbed: too few or too many to tell", disturbed)
	}
}

// The decision has no words of its own: a trial that is judged invalid for what a meter saw
// names the same cause.
func TestADisturbanceHasTheWordsOfAStandstill(t *testing.T) {
	change := func(r *record.Record) {
		beats(&r.Workers[theClient], nil, [2]float64{0.4, 0.5})
	}
	o := synthetic.Options{Window: time.Second}
	if by, judged := trial.Disturbed(recordOf(o, change)), examined(t, o, change); by.Why == "" || !strings.Contains(judged.Reason, by.Why) {
		t.Errorf("disturbed as %q, judged %q", by.Why, judged.Reason)
	}
}
