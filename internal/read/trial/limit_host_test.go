package trial_test

import (
	"testing"

	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// strangers lets processes that are none of the trial's use what was idle of some
// CPUs.
func strangers(workers []record.Worker, ids ...int) {
	busyCPUs(workers, ids...)
	for i := range workers {
		for _, id := range ids {
			from, to := &workers[i].Open.Meter.CPUs[id], &workers[i].Close.Meter.CPUs[id]
			to.UserNs += to.SoftIRQNs - from.SoftIRQNs
			to.SoftIRQNs = from.SoftIRQNs
		}
	}
}

// waitedFor lets every thread of a worker wait for a CPU for a share of the window.
func waitedFor(w *record.Worker, share float64) {
	from, to := w.Open.Meter, w.Close.Meter
	for i := range to.Threads {
		from.Threads[i].WaitNs = 1
		to.Threads[i].WaitNs = 1 + int64(share*float64(to.AtNs-from.AtNs))
	}
}

// That others were busy does not show that the ends waited for them.
func TestHostIsTheLimitWhereTheEndsWaitedForIt(t *testing.T) {
	full := func(server, client float64) func([]record.Worker) {
		return func(w []record.Worker) {
			strangers(w, 0, 1, 2, 3)
			waitedFor(&w[0], server)
			waitedFor(&w[1], client)
		}
	}
	checkLimits(t, []limitCase{
		{"both ends waited", 0, full(0.2, 0.4), trial.HostCPU, "of that CPU time, other processes the rest; the trial's exchanges waited for a CPU for 60.0 % of their time"},
		{"one end waited long enough", 0, full(0.25, 0.001), trial.HostCPU, "for 25.1 % of their time"},
		{"hardly any wait", 0, full(0.01, 0.02), trial.Latency, "all 4 CPUs of local were 100.0 % busy; the trial's own processes used"},
		{"how little they waited", 0, full(0.01, 0.02), trial.Latency, "but the trial's exchanges waited for a CPU for only 3.00 % of their time and 49.22 of 50 slots waited for replies"},
		{"a thread that only looks after others", 0, func(w []record.Worker) {
			full(0, 0.01)(w)
			from, to := w[0].Open.Meter, w[0].Close.Meter
			to.Threads[1].CPUNs = from.Threads[1].CPUNs + 1000
			to.Threads[1].WaitNs += (to.AtNs - from.AtNs) * 9 / 10
		}, trial.Latency, "for only 1.0"},
		{"more threads than slots, one after the other", 0, func(w []record.Worker) {
			full(0.15, 0)(w)
			w[1].Setup.Load.Connections = 1
			to := w[0].Close.Meter
			to.Threads[1].CPUNs = to.Threads[0].CPUNs
		}, trial.HostCPU, "for 29.9 %"},
		{"a kernel that does not tell", 0, func(w []record.Worker) { strangers(w, 0, 1, 2, 3) }, trial.Unknown, "whether the ends waited for a CPU was not recorded"},
		{"nor in an open loop that fell short", 20000, func(w []record.Worker) {
			strangers(w, 0, 1, 2, 3)
			w[1].Setup.Load.Rate = 30000
		}, trial.Unknown, "was not recorded"},
		{"an open loop that fell short, and hardly any wait", 20000, func(w []record.Worker) {
			full(0.01, 0.02)(w)
			w[1].Setup.Load.Rate = 30000
		}, trial.Unknown, "yet all 4 CPUs"},
		{"the trial's own work", 0, func(w []record.Worker) { busyCPUs(w, 0, 1, 2, 3) }, trial.ServerCPU, ""},
		{"both ends' work on shared CPUs", 0, func(w []record.Worker) {
			for i := range w {
				all := []int{0, 1, 2, 3}
				w[i].CPUSet, w[i].Open.Meter.CPUSet, w[i].Close.Meter.CPUSet = all, all, all
			}
			busyCPUs(w, 0, 1, 2, 3)
			use(&w[0], 1)
			use(&w[1], 1)
		}, trial.HostCPU, "all 4 CPUs of local were 100.0 % busy"},
	})
}
