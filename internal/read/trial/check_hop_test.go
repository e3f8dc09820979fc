package trial_test

import (
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// What the clients exchanged went through the hop, or the trial says nothing of it.
func TestHopsCarryWhatClientsExchange(t *testing.T) {
	for name, c := range map[string]struct {
		change func(hop *record.Worker)
		want   string
	}{
		"honest":                 {func(*record.Worker) {}, ""},
		"half went elsewhere":    {func(h *record.Worker) { h.Close.Meter.TCP.ReceivedBytes /= 2 }, "the clients sent 200000 bytes, but the kernel counted"},
		"replies went elsewhere": {func(h *record.Worker) { h.Close.Meter.TCP.AckedBytes /= 2 }, "did not go through it"},
		"it did nothing":         {func(h *record.Worker) { h.Close.Meter.Process.CPUNs = h.Open.Meter.Process.CPUNs }, "hop (nginx) spent no CPU time in the window"},
		"never read":             {func(h *record.Worker) { h.Close = nil }, "hop left no reading of the window"},
		"no account of the kernel's": {func(h *record.Worker) {
			h.Idle.Meter.TCP, h.Open.Meter.TCP, h.Close.Meter.TCP = nil, nil, nil
		}, ""},
	} {
		judged := examined(t, synthetic.Options{Rate: 1000, Window: 2 * time.Second}, func(r *record.Record) {
			synthetic.Hop(r, "nginx", 20_000, 4096)
			c.change(&r.Workers[len(r.Workers)-1])
		})
		if (judged.Status == trial.Valid) != (c.want == "") || !strings.Contains(judged.Reason, c.want) {
			t.Errorf("%s: %s, %q; want %q", name, judged.Status, judged.Reason, c.want)
		}
	}
}

// A hop that has no time left is what limits, whether it has a CPU of its own or shares the
// server's.
func TestAHopMayBeTheLimit(t *testing.T) {
	for name, c := range map[string]struct {
		hop, server float64 // cores
		own         bool
		want        trial.Limit
	}{
		"its own CPU is full":      {0.93, 0.3, true, trial.HopCPU},
		"the server's is full":     {0.5, 0.45, false, trial.HopCPU},
		"both have time left":      {0.4, 0.3, false, trial.Latency},
		"a hop with a CPU to idle": {0.4, 0.3, true, trial.Latency},
	} {
		judged := examined(t, synthetic.Options{}, func(r *record.Record) {
			synthetic.Hop(r, "nginx", 20_000, 4096)
			use := func(w *record.Worker, cores float64, set []int) {
				from, to := w.Open.Meter, w.Close.Meter
				w.CPUSet, from.CPUSet, to.CPUSet, to.Threads, from.Threads = set, set, set, nil, nil
				to.Process.CPUNs = from.Process.CPUNs + int64(cores*float64(to.AtNs-from.AtNs))
			}
			use(&r.Workers[0], c.server, []int{0})
			set := []int{0}
			if c.own {
				set = []int{1}
			}
			use(&r.Workers[len(r.Workers)-1], c.hop, set)
		})
		if judged.Limit != c.want {
			t.Errorf("%s: %s (%s), want %s", name, judged.Limit, judged.LimitProof, c.want)
		}
	}
}
