package trial_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// examined returns what is found of one synthetic trial after a change.
func examined(t *testing.T, o synthetic.Options, change func(*record.Record)) trial.Trial {
	t.Helper()
	o.Blocks, o.Connections, o.Arms = 1, []int{50}, []synthetic.Arm{{Name: "go-net"}}
	_, trials, records := synthetic.Run(o)
	change(&records[0])
	judged := []*trial.Judged{{Plan: trials[0], Record: &records[0]}}
	trial.JudgeAll(judged)
	return judged[0].Trial
}

// Of a server that is nobody's process only the client's side is known.
func TestServerElsewhere(t *testing.T) {
	judged := examined(t, synthetic.Options{}, func(r *record.Record) {
		s := &r.Workers[0]
		s.Ready.Elsewhere, s.Ready.Foreign = true, true
		from, to := s.Open.Meter, s.Close.Meter
		to.Threads[0].CPUNs = from.Threads[0].CPUNs + to.AtNs - from.AtNs // the wrapper's thread is no server's
	})
	if judged.Status != trial.Valid || judged.Limit != trial.Unknown || !strings.Contains(judged.LimitProof, "the server runs elsewhere") {
		t.Errorf("%s: %s, limit %s (%s)", judged.Status, judged.Reason, judged.Limit, judged.LimitProof)
	}
	for name := range judged.Values.All() {
		if strings.HasPrefix(name, "server.") {
			t.Errorf("%s is known of a server elsewhere", name)
		}
	}
	for _, split := range judged.CPU {
		if split.Of == "server" {
			t.Errorf("the CPU of a server elsewhere was split: %v", split)
		}
	}
}

func TestFlags(t *testing.T) {
	cases := []struct {
		name   string
		rate   float64
		change func(server, client *record.Worker)
		want   string
		why    string
	}{
		{"quiet closed loop", 0, func(_, _ *record.Worker) {}, "", ""},
		{"quiet open loop", 20000, func(_, _ *record.Worker) {}, "", ""},
		{"overloaded", 20000, func(_, c *record.Worker) { c.Setup.Load.Rate = 20500 }, trial.Overloaded, "achieved 97.6 % of the offered rate"},
		{"all that fell due of a drawn schedule", 20000, func(_, c *record.Worker) {
			n := float64(c.Result.Counts.Exchanges)
			c.Setup.Load.Rate, c.Setup.Load.Arrival = 21000, contract.Poisson
			c.Result.Inside = &contract.Inside{Exchanges: n, Cycles: n, Due: n}
		}, "", ""},
		{"not all that fell due of a drawn schedule", 20000, func(_, c *record.Worker) {
			n := float64(c.Result.Counts.Exchanges)
			c.Setup.Load.Arrival = contract.Poisson
			c.Result.Inside = &contract.Inside{Exchanges: n, Cycles: n, Due: 1.025 * n}
		}, trial.Overloaded, "achieved 97.6 % of the offered rate"},
		{"a server that is idle between few exchanges", 20000, func(_, c *record.Worker) {
			n := float64(c.Result.Counts.Exchanges)
			c.Result.Inside = &contract.Inside{Exchanges: n, Cycles: n - 5, Due: n}
		}, "", ""},
		{"short by chance of a drawn schedule", 20000, func(_, c *record.Worker) {
			c.Setup.Load.Rate, c.Setup.Load.Arrival = 20250, contract.Poisson
		}, "", ""},
		{"unequal windows", 20000, func(s, _ *record.Worker) { s.Close.Reading.AtNs += 41_000_000 }, trial.LateCounters, "the window of server was 41 ms longer than that of client-1"},
		{"late counters", 20000, func(s, _ *record.Worker) { s.Close.Meter.SkewNs = 41_000_000 }, trial.LateCounters, "the CPU counters of server were read 41 ms off the mark"},
		{"late counters that decide nothing", 20000, func(s, _ *record.Worker) { s.Close.Meter.SkewNs = 39_000_000 }, "", ""},
		{"stolen", 20000, func(s, _ *record.Worker) { s.Close.Meter.CPUs[1].StealNs += 200_000_000 }, trial.BusyMachine, "stolen"},
		{"connections made anew", 0, func(_, c *record.Worker) { c.Result.Counts.Redialled = 3 }, trial.Reconnected, "3 connections ended between exchanges"},
		{"slots that wait for another's stream", 0, func(_, c *record.Worker) { c.Setup.Load.InFlight, c.Setup.Exchange.Stream = 2, contract.StreamUp }, "", ""},
		{"slots empty that nothing streams before", 0, func(_, c *record.Worker) { c.Setup.Load.InFlight = 2 }, trial.GeneratorLate, "of 100 slots busy"},
		{"slots empty", 0, func(_, c *record.Worker) { c.Setup.Load.Connections = 55 }, trial.GeneratorLate, "of 55 slots busy"},
		{"slots empty by intent", 0, func(_, c *record.Worker) {
			c.Setup.Load.Connections, c.Setup.Load.ThinkNs = 55, 1000
		}, "", ""},
		{"slows down", 20000, func(_, c *record.Worker) {
			for i := range c.Ticks {
				c.Ticks[i].Exchanges -= int64(i * i * 20)
			}
		}, trial.Unsteady, "the rate changed by"},
	}
	for _, c := range cases {
		judged := examined(t, synthetic.Options{Rate: c.rate}, func(r *record.Record) { c.change(&r.Workers[0], &r.Workers[1]) })
		if judged.Status != trial.Valid || strings.Join(judged.Flags, " ") != c.want || !strings.Contains(judged.Reason, c.why) {
			t.Errorf("%s: %s %v %q; want %q, %q", c.name, judged.Status, judged.Flags, judged.Reason, c.want, c.why)
		}
	}
}

// busyCPUs makes interrupts take what was idle of some CPUs.
func busyCPUs(workers []record.Worker, ids ...int) {
	for i := range workers {
		for _, id := range ids {
			from, to := workers[i].Open.Meter.CPUs, workers[i].Close.Meter.CPUs
			idle := to[id].IdleNs - from[id].IdleNs
			to[id].IdleNs = from[id].IdleNs
			to[id].SoftIRQNs += idle
		}
	}
}

// busyFor makes thread i of a worker busy for a share of the window.
func busyFor(w *record.Worker, i int, share float64) {
	from, to := w.Open.Meter, w.Close.Meter
	to.Threads[i].CPUNs = from.Threads[i].CPUNs + int64(share*float64(to.AtNs-from.AtNs))
}

// use makes a worker's processes use so many cores.
func use(w *record.Worker, cores float64) {
	from, to := w.Open.Meter, w.Close.Meter
	to.Process.CPUNs = from.Process.CPUNs + int64(cores*float64(to.AtNs-from.AtNs))
}

// limitCase is a change of a synthetic trial, and the limit that it makes.
type limitCase struct {
	name   string
	rate   float64
	change func(w []record.Worker)
	want   trial.Limit
	proof  string
}

func checkLimits(t *testing.T, cases []limitCase) {
	t.Helper()
	for _, c := range cases {
		trial := examined(t, synthetic.Options{Rate: c.rate}, func(r *record.Record) { c.change(r.Workers) })
		if trial.Limit != c.want || !strings.Contains(trial.LimitProof, c.proof) {
			t.Errorf("%s: %s (%s), want %s (%s)", c.name, trial.Limit, trial.LimitProof, c.want, c.proof)
		}
	}
}

func TestLimits(t *testing.T) {
	checkLimits(t, []limitCase{
		{"nothing, closed", 0, func([]record.Worker) {}, trial.Latency, "of 50 slots waited for replies"},
		{"nothing, open", 20000, func([]record.Worker) {}, trial.Schedule, "reached 100 % of its offered rate"},
		{"rate missed for no reason", 20000, func(w []record.Worker) { w[1].Setup.Load.Rate = 30000 }, trial.Unknown, "no CPU was full"},
		{"server thread", 20000, func(w []record.Worker) { busyFor(&w[0], 1, 0.984) }, trial.ServerCore, "thread 4712 (netdyno-worker) of server was busy 98.4 % of the window"},
		{"client thread", 0, func(w []record.Worker) { busyFor(&w[1], 0, 0.96) }, trial.ClientCore, "thread 4713 (netdyno-worker) of client-1 was busy 96.0 %"},
		{"both threads: the server comes first", 0, func(w []record.Worker) { busyFor(&w[1], 0, 0.99); busyFor(&w[0], 0, 0.96) }, trial.ServerCore, "96.0 %"},
		{"impossible thread", 0, func(w []record.Worker) { busyFor(&w[0], 0, 7) }, trial.Latency, ""},
		{"server set by processes", 0, func(w []record.Worker) { use(&w[0], 1.86) }, trial.ServerCPU, "server used 1.86 of its 2 CPUs (93.0 %)"},
		{"client set by processes", 0, func(w []record.Worker) { use(&w[1], 1.9) }, trial.ClientCPU, "client used 1.9 of its 2 CPUs"},
		{"server set by its CPUs' interrupts", 0, func(w []record.Worker) { busyCPUs(w, 0, 1) }, trial.ServerCPU, "the server's own CPUs 0,1 were 100.0 % busy"},
		{"client set by its CPUs' interrupts", 0, func(w []record.Worker) { busyCPUs(w, 2, 3) }, trial.ClientCPU, "the client's own CPUs 2,3"},
		{"a stranger on the server's CPUs", 0, func(w []record.Worker) {
			strangers(w, 0, 1)
			waitedFor(&w[0], 0.3)
			waitedFor(&w[1], 0)
		}, trial.HostCPU, "CPUs 0,1 were 100.0 % busy; the trial's own processes used 36.0 % of that CPU time, other processes the rest"},
		{"shared set full", 0, func(w []record.Worker) {
			for i := range w {
				w[i].Open.Meter.CPUSet, w[i].Close.Meter.CPUSet = []int{0, 1}, []int{0, 1}
			}
			busyCPUs(w, 0, 1)
		}, trial.HostCPU, "server and client share CPUs 0,1, which were"},
		{"whole host full", 0, func(w []record.Worker) {
			for i := range w {
				w[i].Open.Meter.CPUSet, w[i].Close.Meter.CPUSet = []int{0, 1, 2, 3}, []int{0, 1, 2, 3}
			}
			busyCPUs(w, 0, 1, 2, 3)
		}, trial.HostCPU, "all 4 CPUs of local"},
		{"unmetered server", 0, func(w []record.Worker) { w[0].Close.Meter = nil }, trial.Unknown, "missing"},
	})
}

// How busy a thread is that polls says nothing, of its core, its CPUs or its host.
func TestLimitsOfEndsThatPoll(t *testing.T) {
	checkLimits(t, []limitCase{
		{"a full thread of a server that polls", 0, func(w []record.Worker) {
			w[0].Ready.Polls = true
			busyFor(&w[0], 1, 0.99)
			use(&w[0], 1.9)
			busyCPUs(w, 0, 1)
		}, trial.Unknown, "the server polls"},
		{"a client's thread beside a server that polls", 0, func(w []record.Worker) { w[0].Ready.Polls = true; busyFor(&w[1], 0, 0.96) }, trial.ClientCore, "96.0 %"},
		{"a schedule that polling ends kept", 20000, func(w []record.Worker) {
			w[0].Ready.Polls, w[1].Ready.Polls = true, true
			busyFor(&w[0], 0, 1)
		}, trial.Schedule, ""},
	})
}
