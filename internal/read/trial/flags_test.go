package trial_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A warning says what it changes, what happened and what the reader can do.
func TestEveryFlagSaysWhatItChanges(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range trial.Flags() {
		for what, text := range map[string]string{"name": f.Name, "what it changes": f.Changes, "what happened": f.Warning, "what to do": f.Advice} {
			if text == "" || text != strings.TrimSpace(text) || strings.HasSuffix(text, ".") {
				t.Errorf("flag %q: %s is %q", f.Name, what, text)
			}
		}
		if strings.HasPrefix(f.Changes, "their ") || strings.HasPrefix(f.Warning, "they ") {
			t.Errorf("flag %q: in 3 of 40 trials %s: they %s", f.Name, f.Changes, f.Warning)
		}
		if seen[f.Name] {
			t.Errorf("flag %q is listed twice", f.Name)
		}
		seen[f.Name] = true
	}
	if len(seen) < 16 {
		t.Errorf("only %d flags", len(seen))
	}
}

// However late counters are read, and whatever an end does in the time by which they
// are late (from nothing to twice its mean), a cost is off by no more than is said.
func TestCostsAreOffByNoMoreThanSaid(t *testing.T) {
	const cost = "server.cpu_us_per_exchange"
	honest := examined(t, synthetic.Options{}, func(*record.Record) {}).Values.At(cost)
	rapid.Check(t, func(r *rapid.T) {
		ms := rapid.IntRange(0, 90)
		opening, closing := ms.Draw(r, "opening"), ms.Draw(r, "closing")
		busy := rapid.Float64Range(0, 2)
		before, after := busy.Draw(r, "CPU before"), busy.Draw(r, "CPU after")
		judged, said := late(t, int64(opening)*1e6, int64(closing)*1e6, before, after)
		off := math.Abs(judged.Values.At(cost)/honest - 1)
		if off > said*(1+1e-6) {
			t.Errorf("read %d and %d ms late, with %.2g and %.2g of the mean CPU: off by %.3g, said are %.3g", opening, closing, before, after, off, said)
		}
		if flagged := strings.Contains(strings.Join(judged.Flags, " "), trial.LateCounters); flagged != (said > 0.02) {
			t.Errorf("off by at most %.3g: flags %v", said, judged.Flags)
		}
	})
}

// late reads a synthetic server's counters late, by ns at each edge, in which it used
// so many times its mean CPU time, and returns by what share its costs may be off.
func late(t *testing.T, openingNs, closingNs int64, before, after float64) (trial.Trial, float64) {
	t.Helper()
	o := synthetic.Options{Blocks: 1, Connections: []int{50}, Arms: []synthetic.Arm{{Name: "go-net"}}}
	_, trials, records := synthetic.Run(o)
	for i := range records[0].Workers {
		w := &records[0].Workers[i]
		w.Open.Meter.SkewNs, w.Close.Meter.SkewNs = 0, 0
		if w.Role != "server" {
			continue
		}
		from, to := w.Open.Meter, w.Close.Meter
		mean := float64(to.Process.CPUNs-from.Process.CPUNs) / float64(to.AtNs-from.AtNs)
		from.AtNs, from.SkewNs = from.AtNs+openingNs, openingNs
		from.Process.CPUNs += int64(before * mean * float64(openingNs))
		to.AtNs, to.SkewNs = to.AtNs+closingNs, closingNs
		to.Process.CPUNs += int64(after * mean * float64(closingNs))
	}
	judged := []*trial.Judged{{Plan: trials[0], Record: &records[0]}}
	trial.JudgeAll(judged)
	return judged[0].Trial, judged[0].CostError
}

// A deep queue is told, with its end, its depth and what caps it. Small queues of many
// connections are not told, and neither is a shallow one.
func TestAQueueThatStandsIsTold(t *testing.T) {
	for name, c := range map[string]struct {
		opened, closed int64
		sockets        int
		want           string
	}{
		"stands":              {3 << 20, 5 << 20, 4, "the receive queues of the client stood at 4.00 MiB on 4 connections: copies miss the cache; cap them with opt.client.receive_buffer=…"},
		"little ones of many": {3 << 20, 5 << 20, 50, ""},
		"shallow":             {1 << 20, 2 << 20, 1, ""},
	} {
		judged := examined(t, synthetic.Options{}, func(r *record.Record) {
			for i := range r.Workers {
				w := &r.Workers[i]
				unread := [2]int64{}
				if w.Role == contract.Client {
					unread = [2]int64{c.opened, c.closed}
				}
				w.Open.Meter.TCP = &contract.TCP{Sockets: c.sockets, ReceiveBufferedBytes: unread[0]}
				w.Close.Meter.TCP = &contract.TCP{Sockets: c.sockets, ReceiveBufferedBytes: unread[1]}
			}
		})
		if got := slices.Contains(judged.Flags, trial.ReceiveQueue); got != (c.want != "") || !strings.Contains(judged.Reason, c.want) {
			t.Errorf("%s: flags %v, %q; want %q", name, judged.Flags, judged.Reason, c.want)
		}
	}
}
