package trial_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

func TestWhatTheHypervisorTookIsNoTimeThatWasLeft(t *testing.T) {
	// 62 % of the window on its CPU, another 36 % of which was stolen.
	starved := func(w *record.Worker, busy, stolen int64) {
		from, to := w.Open.Meter, w.Close.Meter
		length := to.AtNs - from.AtNs
		w.CPUSet, from.CPUSet, to.CPUSet = []int{0}, []int{0}, []int{0}
		to.Threads[0].CPUNs = from.Threads[0].CPUNs + length*busy/100
		to.Process.CPUNs = from.Process.CPUNs + length*busy/100
		cpu := from.CPUs[0]
		cpu.UserNs += length * busy / 100
		cpu.StealNs += length * stolen / 100
		cpu.IdleNs += length * (100 - busy - stolen) / 100
		to.CPUs[0] = cpu
	}
	for _, c := range []struct {
		busy, stolen int64
		want         trial.Limit
	}{
		{62, 36, trial.ServerCore},
		{62, 30, trial.ServerCPU}, // 92 %
		{62, 10, trial.Latency},
		{40, 50, trial.Latency}, // more taken than used proves nothing
		{97, 0, trial.ServerCore},
	} {
		trial := examined(t, synthetic.Options{}, func(r *record.Record) { starved(&r.Workers[0], c.busy, c.stolen) })
		if trial.Limit != c.want {
			t.Errorf("%d %% busy, %d %% stolen: %s (%s), want %s", c.busy, c.stolen, trial.Limit, trial.LimitProof, c.want)
		}
		if said := strings.Contains(trial.LimitProof, "that the hypervisor took"); said != (c.stolen >= 30 && c.stolen <= c.busy) {
			t.Errorf("%d %% stolen: the proof %q speaks of the hypervisor %t", c.stolen, trial.LimitProof, said)
		}
	}
}

// A runtime with one thread to compute with spreads its work over several of
// the kernel's.
func TestOneThreadMayBeSeveralOfTheKernels(t *testing.T) {
	for _, c := range []struct {
		name   string
		cores  int64 // hundredths
		change func(w *record.Worker)
		want   trial.Limit
	}{
		{"full", 97, func(*record.Worker) {}, trial.ServerCore},
		{"not full", 90, func(*record.Worker) {}, trial.Latency},
		{"two threads", 97, func(w *record.Worker) { w.Ready.Threads = 2 }, trial.Latency},
		{"no such runtime", 97, func(w *record.Worker) { w.Close.Reading.Runtime = nil }, trial.Latency},
	} {
		judged := examined(t, synthetic.Options{}, func(r *record.Record) {
			w := &r.Workers[0]
			from, to := w.Open.Meter, w.Close.Meter
			used := (to.AtNs - from.AtNs) * c.cores / 100
			to.Process.CPUNs = from.Process.CPUNs + used
			w.Ready.Threads, w.Close.Reading.Runtime = 1, &contract.Runtime{Goroutines: 3}
			for i := range to.Threads {
				to.Threads[i].CPUNs = from.Threads[i].CPUNs + used/2
			}
			c.change(w)
		})
		if judged.Limit != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, judged.Limit, judged.LimitProof, c.want)
		}
		if c.want == trial.ServerCore && !strings.Contains(judged.LimitProof, "server runs one thread at a time, and they were busy 97.0 %") {
			t.Errorf("%s: proof %q", c.name, judged.LimitProof)
		}
	}
}
