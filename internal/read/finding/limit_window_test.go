package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// paced gives a server 2 connections over a way of 10 ms that were busy all
// the time of 2 s, a fifth of it waiting for windows of 64 KiB each, and brought
// 90 % of what those let through.
func paced(w *record.Worker) {
	const busy, window = 2 * 1_990_000_000, 2 * 64 << 10
	w.Open.Meter.TCP = &contract.TCP{Sockets: 2, PeerWindowBytes: window / 2, MinRTTNs: 11_000_000}
	w.Close.Meter.TCP = &contract.TCP{
		Sockets: 2, BusyNs: busy, ReceiveWindowNs: busy / 5, AckedBytes: window * 200 * 9 / 10,
		PeerWindowBytes: window, MinRTTNs: 10_000_000, RTTNs: 12_000_000, CongestionWindow: 160, SegmentBytes: 1448,
	}
}

func TestWindowOfAPacedSenderIsTheLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(server *contract.TCP)
		want   trial.Limit
	}{
		{"as it is", func(*contract.TCP) {}, trial.ReceiveWindow},
		{"just under the bound", func(s *contract.TCP) { s.AckedBytes = s.AckedBytes * 59 / 90 }, trial.Latency},
		{"just over the bound", func(s *contract.TCP) { s.AckedBytes = s.AckedBytes * 61 / 90 }, trial.ReceiveWindow},
		{"congestion control lets less through", func(s *contract.TCP) { s.CongestionWindow = 40 }, trial.Latency},
		{"never waited for it", func(s *contract.TCP) { s.ReceiveWindowNs = s.BusyNs / 11 }, trial.Latency},
		{"seldom anything to send", func(s *contract.TCP) { s.BusyNs /= 3 }, trial.Latency},
		{"a kernel that does not tell windows", func(s *contract.TCP) { s.PeerWindowBytes = 0 }, trial.Latency},
		{"a round trip that nobody measured", func(s *contract.TCP) { s.MinRTTNs = 0 }, trial.Latency},
		{"a window that grew", func(s *contract.TCP) { s.PeerWindowBytes *= 4; s.CongestionWindow *= 4 }, trial.Latency},
	} {
		judged := examined(t, synthetic.Options{}, func(r *record.Record) {
			paced(&r.Workers[0])
			c.change(r.Workers[0].Close.Meter.TCP)
			if r.Workers[0].Close.Meter.TCP.PeerWindowBytes == 0 {
				r.Workers[0].Open.Meter.TCP.PeerWindowBytes = 0
			}
		})
		if judged.Limit != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, judged.Limit, judged.LimitProof, c.want)
		}
		if c.want != trial.ReceiveWindow {
			continue
		}
		for _, part := range []string{
			"the receive windows of the client, 128 KiB in all, allow at the shortest round trip of 10.0 ms",
			"for 20.0 % of the time with data to send", "congestion control would have allowed 452 KiB in flight",
		} {
			if !strings.Contains(judged.LimitProof, part) {
				t.Errorf("%s: proof %q lacks %q", c.name, judged.LimitProof, part)
			}
		}
	}
}

// A stream that its window held back sets no ceiling and did not fill the link.
func TestWindowIsNoCeilingOfALink(t *testing.T) {
	trials := crossing(t, func(records []record.Record) {
		for i := range records {
			if records[i].Trial.Arm != "go-net" {
				paced(&records[i].Workers[0])
			}
		}
	})
	for arm, want := range map[string]trial.Limit{"asio": trial.ReceiveWindow, "go-epoll": trial.ReceiveWindow, "go-net": trial.Latency} {
		if got := trials[arm]; got.Limit != want {
			t.Errorf("%s: %s (%s), want %s", arm, got.Limit, got.LimitProof, want)
		}
	}
}
