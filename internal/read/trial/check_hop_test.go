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
