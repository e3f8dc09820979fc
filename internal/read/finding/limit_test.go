package finding_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// account gives a worker 50 connections that in the window of 2 s had data to
// send and were held back for so many ms each.
func account(w *record.Worker, busy, window, buffer int64) {
	const each = 50 * 1_000_000
	w.Open.Meter.TCP = &contract.TCP{Sockets: 50}
	w.Close.Meter.TCP = &contract.TCP{
		Sockets: 50, BusyNs: busy * each, ReceiveWindowNs: window * each, SendBufferNs: buffer * each,
		RTTNs: 230_000, CongestionWindow: 10, SegmentBytes: 65536, SendQueuedBytes: 3 << 20, ReceiveBufferedBytes: 1 << 20,
	}
}

func TestConnectionsLimit(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(server, client *record.Worker)
		want   trial.Limit
		proof  []string
	}{
		{"nobody held back", func(s, c *record.Worker) { account(s, 1900, 300, 200); account(c, 100, 0, 0) }, trial.Latency, nil},
		{"the client's window", func(s, c *record.Worker) { account(s, 1900, 1500, 0); account(c, 100, 0, 0) }, trial.ReceiveWindow, []string{
			"the server's 50 connections had data to send for 95.0 % of the window", "for 78.9 % of that time the receive window of the client held them back",
			"round trip 230", "congestion window 640 KiB", "3.00 MiB in the server's send buffers", "1.00 MiB unread at the client",
		}},
		{"the server's window", func(s, c *record.Worker) { account(c, 1000, 500, 0); account(s, 100, 0, 0) }, trial.ReceiveWindow, []string{
			"the client's 50 connections", "receive window of the server",
		}},
		{"just too little", func(_, c *record.Worker) { account(c, 1000, 499, 0) }, trial.Latency, nil},
		{"seldom anything to send", func(_, c *record.Worker) { account(c, 990, 990, 0) }, trial.Latency, nil},
		{"few connections are active, and those are held back", func(_, c *record.Worker) {
			c.Setup.Load.ActiveShare = 0.1
			account(c, 190, 180, 0)
		}, trial.ReceiveWindow, []string{"95.0 % of the window"}},
		{"its own buffer", func(s, _ *record.Worker) { account(s, 1900, 0, 1000) }, trial.SendBuffer, []string{
			"the server's 50 connections", "the server's own send buffer held them back", "3.00 MiB in the server's send buffers at the end",
		}},
		{"windows before buffers", func(s, c *record.Worker) { account(s, 1900, 0, 1900); account(c, 1900, 1900, 0) }, trial.ReceiveWindow, nil},
		{"the server before the client", func(s, c *record.Worker) { account(s, 1900, 1900, 0); account(c, 1900, 1900, 0) }, trial.ReceiveWindow, []string{"the server's 50 connections"}},
		{"a full core comes first", func(s, _ *record.Worker) {
			account(s, 1900, 1900, 0)
			from, to := s.Open.Meter, s.Close.Meter
			to.Threads[0].CPUNs = from.Threads[0].CPUNs + (to.AtNs - from.AtNs)
		}, trial.ServerCore, nil},
		{"connections made anew", func(s, _ *record.Worker) {
			account(s, 1900, 1900, 0)
			s.Close.Meter.TCP.Sockets--
		}, trial.Latency, nil},
		{"a server elsewhere: the client's account alone", func(s, c *record.Worker) {
			s.Ready.Elsewhere = true
			account(c, 1900, 1900, 0)
		}, trial.ReceiveWindow, []string{"receive window of the server"}},
	} {
		trial := examined(t, synthetic.Options{}, func(r *record.Record) { c.change(&r.Workers[0], &r.Workers[1]) })
		if trial.Limit != c.want {
			t.Errorf("%s: %s (%s), want %s", c.name, trial.Limit, trial.LimitProof, c.want)
		}
		for _, part := range c.proof {
			if !strings.Contains(trial.LimitProof, part) {
				t.Errorf("%s: proof %q lacks %q", c.name, trial.LimitProof, part)
			}
		}
	}
}

// Whose window it was decides: what the client's holds back is no property of
// servers.
func TestVerdictOnServersHeldBackByTheClientIsRefused(t *testing.T) {
	for _, c := range []struct {
		name    string
		hold    func(server, client *record.Worker)
		refused bool
	}{
		{"the client's window", func(s, _ *record.Worker) { account(s, 1900, 1900, 0) }, true},
		{"the client's send buffer", func(_, c *record.Worker) { account(c, 1900, 0, 1900) }, true},
		{"the server's window", func(_, c *record.Worker) { account(c, 1900, 1900, 0) }, false},
		{"the server's send buffer", func(s, _ *record.Worker) { account(s, 1900, 0, 1900) }, false},
	} {
		h, trials, records := synthetic.Run(synthetic.Options{Blocks: 6, Connections: []int{50}, Primary: []string{"exchanges_per_s", serverCPU}, Bare: true})
		for i := range records {
			c.hold(&records[i].Workers[0], &records[i].Workers[1])
		}
		f := find(t, h, trials, records)
		rate := comparison(t, f, "connections=50", "exchanges_per_s", "go-epoll")
		if refused := rate.Verdict == compare.Invalid && strings.Contains(rate.Reason, "the client limited"); refused != c.refused {
			t.Errorf("%s: %s (%s), refused %t, want %t", c.name, rate.Verdict, rate.Reason, refused, c.refused)
		}
		if cpu := comparison(t, f, "connections=50", serverCPU, "go-epoll"); cpu.Verdict == compare.Invalid {
			t.Errorf("%s: CPU is refused as well: %s", c.name, cpu.Reason)
		}
		warned := false
		for _, w := range f.Warnings {
			warned = warned || w.About == "limit"
		}
		if warned != c.refused {
			t.Errorf("%s: warned of the client %t, want %t", c.name, warned, c.refused)
		}
	}
}

// crossing puts a study's trials on the interface eth0; asio streams down and
// go-epoll, 20 % slower, as well.
func crossing(t *testing.T, change func(records []record.Record)) map[string]trial.Trial {
	t.Helper()
	h, trials, records := synthetic.Run(synthetic.Options{
		Blocks: 1, Connections: []int{50}, Bare: true,
		Arms: []synthetic.Arm{{Name: "go-net", Speed: 0.96}, {Name: "go-epoll", Speed: 0.8}, {Name: "asio"}},
	})
	for i := range records {
		for j := range records[i].Workers {
			w := &records[i].Workers[j]
			for _, edge := range []*record.Edge{w.Open, w.Close} {
				moved, _ := edge.Meter.Interfaces.Of("lo")
				edge.Meter.Interfaces.Set("eth0", moved)
				edge.Meter.Interfaces.Delete("lo")
			}
			if trials[i].Arm != "go-net" {
				w.Setup.Exchange.Stream = contract.StreamDown
			}
		}
	}
	change(records)
	byArm := map[string]trial.Trial{}
	for _, a := range find(t, h, trials, records).Cells[0].Arms {
		byArm[a.Name] = a.Trials[0]
	}
	return byArm
}

func TestLinkIsFullAtTheBestBulkArmsRate(t *testing.T) {
	trials := crossing(t, func([]record.Record) {})
	for arm, want := range map[string]trial.Limit{"asio": trial.Link, "go-net": trial.Link, "go-epoll": trial.Latency} {
		if got := trials[arm]; got.Limit != want {
			t.Errorf("%s: %s (%s), want %s", arm, got.Limit, got.LimitProof, want)
		}
	}
	for _, part := range []string{"5.76 MB/s arrived at the client over local/eth0", "96.0 % of the highest rate", "(6.00 MB/s by asio, trial "} {
		if !strings.Contains(trials["go-net"].LimitProof, part) {
			t.Errorf("proof %q lacks %q", trials["go-net"].LimitProof, part)
		}
	}
}

func TestLinkNeedsACeilingOfItsOwn(t *testing.T) {
	each := func(do func(r *record.Record)) func([]record.Record) {
		return func(records []record.Record) {
			for i := range records {
				do(&records[i])
			}
		}
	}
	workers := func(do func(w *record.Worker)) func([]record.Record) {
		return each(func(r *record.Record) {
			for i := range r.Workers {
				do(&r.Workers[i])
			}
		})
	}
	for name, change := range map[string]func([]record.Record){
		"loopback": workers(func(w *record.Worker) {
			for _, edge := range []*record.Edge{w.Open, w.Close} {
				moved, _ := edge.Meter.Interfaces.Of("eth0")
				edge.Meter.Interfaces.Set("lo", moved)
				edge.Meter.Interfaces.Delete("eth0")
			}
		}),
		"no bulk arm": workers(func(w *record.Worker) { w.Setup.Exchange.Stream = "" }),
		"bulk arms invalid": each(func(r *record.Record) {
			if r.Trial.Arm != "go-net" {
				r.Workers[1].Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Peer: 1}
			}
		}),
		"bulk arms limited by their CPU": each(func(r *record.Record) {
			if r.Trial.Arm != "go-net" {
				from, to := r.Workers[0].Open.Meter, r.Workers[0].Close.Meter
				to.Threads[0].CPUNs = from.Threads[0].CPUNs + (to.AtNs - from.AtNs)
			}
		}),
		"another link": each(func(r *record.Record) {
			if r.Trial.Arm != "go-net" {
				r.Workers[1].Seat = "far"
			}
		}),
		"another direction": workers(func(w *record.Worker) {
			if w.Setup.Exchange.Stream != "" {
				w.Setup.Exchange.Stream = contract.StreamUp
				w.Setup.Exchange.UpBytes *= 2
				if w.Result != nil {
					w.Result.Counts.SentBytes *= 2
				}
				w.Open.Reading.Counts.ReceivedBytes *= 2
				w.Close.Reading.Counts.ReceivedBytes *= 2
			}
		}),
	} {
		if got := crossing(t, change)["go-net"]; got.Limit != trial.Latency || got.Status != trial.Valid {
			t.Errorf("%s: %s, limit %s (%s), want a valid trial with latency", name, got.Status, got.Limit, got.LimitProof)
		}
	}
}
