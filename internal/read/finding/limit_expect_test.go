package finding_test

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/expect"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// What was published of a full link is tested on a full link, also beside programs that
// keep every CPU busy, where it is of what the link decides.
func TestStatementsOfAFullLinkAreTestedOnABusyHost(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  expect.State
	}{{0.97, expect.Holds}, {0.8, expect.NotTestable}} {
		h, trials, records := synthetic.Run(synthetic.Options{
			Bare: true, Connections: []int{4}, SD: 0.004, BlockSD: 0.3, Blocks: 8, Primary: []string{serverCPU},
			Arms: []synthetic.Arm{{Name: "none"}, {Name: "write", Cost: 0.8}},
		})
		for i := range records {
			trials[i].Levels["link.rate"] = "8Mbit/s"
			records[i].Trial.Levels = trials[i].Levels
			for j := range records[i].Workers {
				beside(&records[i].Workers[j], c.share)
			}
		}
		h.Study.Expect = []record.Expectation{{Source: "they", Under: map[string]string{record.ConditionLimit: "link"}, That: []string{"exchanges_per_s of write = none"}}}
		if got := find(t, h, trials, records).Expect[0]; got.State != c.want {
			t.Errorf("at %v of the link: %s, want %s: %s", c.share, got.State, c.want, got.Ground)
		}
	}
}

// beside lets a worker's interface send a share of 8 Mbit/s while other programs use
// what is idle of its host, for which its threads waited a fifth of the window.
func beside(w *record.Worker, share float64) {
	length := w.Close.Meter.AtNs - w.Open.Meter.AtNs
	for i := range w.Close.Meter.CPUs {
		from, to := w.Open.Meter.CPUs[i], &w.Close.Meter.CPUs[i]
		to.UserNs += to.IdleNs - from.IdleNs
		to.IdleNs = from.IdleNs
	}
	for i := range w.Close.Meter.Threads {
		w.Open.Meter.Threads[i].WaitNs = 1
		w.Close.Meter.Threads[i].WaitNs = 1 + length/5
	}
	for i, edge := range []*record.Edge{w.Open, w.Close} {
		sent := int64(float64(i) * share * 1e6 * float64(length) / 1e9)
		edge.Meter.Interfaces.Delete("lo")
		edge.Meter.Interfaces.Set("eth0", contract.Interface{SentBytes: sent, SentPackets: sent / 1514})
	}
}
