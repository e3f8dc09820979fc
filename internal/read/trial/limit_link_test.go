package trial_test

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// overLink is a trial of 2 s over the interface eth0, of the server's side shaped
// to 8 Mbit/s of which 70 % were used, with the link judged.
func overLink(t *testing.T, o synthetic.Options, change func(r *record.Record)) trial.Trial {
	t.Helper()
	o.Blocks, o.Connections, o.Arms = 1, []int{50}, []synthetic.Arm{{Name: "go-net"}}
	_, trials, records := synthetic.Run(o)
	r := &records[0]
	trials[0].Levels["link.rate"] = "8Mbit/s"
	r.Trial.Levels = trials[0].Levels
	for i := range r.Workers {
		for _, edge := range []*record.Edge{r.Workers[i].Open, r.Workers[i].Close} {
			edge.Meter.Interfaces.Delete("lo")
			edge.Meter.Interfaces.Set("eth0", contract.Interface{})
		}
		carried(&r.Workers[i], 0.7)
	}
	change(r)
	judged := []*trial.Judged{{Plan: trials[0], Record: r}}
	trial.JudgeAll(judged)
	trial.LimitByLink(judged)
	return judged[0].Trial
}

// carried lets a worker's interface send a share of 8 Mbit/s in full packets.
func carried(w *record.Worker, share float64) {
	sent := int64(share * 1e6 * float64(w.Close.Meter.AtNs-w.Open.Meter.AtNs) / 1e9)
	eth0, _ := w.Close.Meter.Interfaces.Of("eth0")
	eth0.SentBytes, eth0.SentPackets = sent, sent/1514
	w.Close.Meter.Interfaces.Set("eth0", eth0)
}

// shaped puts a queue in front of a worker's interface, in which so many of its
// packets waited for each that left.
func shaped(w *record.Worker, waits float64) {
	before, _ := w.Open.Meter.Interfaces.Of("eth0")
	before.Queue = &contract.Queue{SentBytes: 5000}
	w.Open.Meter.Interfaces.Set("eth0", before)
	after, _ := w.Close.Meter.Interfaces.Of("eth0")
	after.Queue = &contract.Queue{SentBytes: 5000 + after.SentBytes, WaitingBytes: 270_000, Drops: 3, Waits: int64(waits * float64(after.SentPackets))}
	w.Close.Meter.Interfaces.Set("eth0", after)
}

// delayed gives a server 2 connections that always had something to send, 1 MB/s of
// it, and whose round trips grew from 50 µs to 20 ms.
func delayed(server, client *record.Worker) {
	length := server.Close.Meter.AtNs - server.Open.Meter.AtNs
	server.Open.Meter.TCP = &contract.TCP{Sockets: 2, RTTNs: 20_050_000, MinRTTNs: 50_000, SegmentBytes: 1448}
	server.Close.Meter.TCP = &contract.TCP{
		Sockets: 2, RTTNs: 24_000_000, MinRTTNs: 50_000, SegmentBytes: 1448, BusyNs: 2 * length * 9 / 10, AckedBytes: length / 1000,
	}
	client.Open.Meter.TCP, client.Close.Meter.TCP = &contract.TCP{Sockets: 2}, &contract.TCP{Sockets: 2}
}

func TestLinkIsTheLimitWhereItsRateIsReached(t *testing.T) {
	for _, c := range []struct {
		name   string
		rate   float64
		change func(w []record.Worker)
		want   trial.Limit
		proof  string
	}{
		{"at its rate", 0, func(w []record.Worker) { carried(&w[0], 0.96) }, trial.Link, "the link link.rate=8Mbit/s carried 96.0 % of its rate, headers included"},
		{"just below it", 0, func(w []record.Worker) { carried(&w[0], 0.945) }, trial.Latency, ""},
		{"in an open loop that reached its own", 20000, func(w []record.Worker) { carried(&w[0], 0.96) }, trial.Link, "96.0 %"},
		{"headers that the interface did not see", 0, func(w []record.Worker) {
			carried(&w[0], 0.93)
			shaped(&w[0], 0)
			carried(&w[0], 0.90)
			eth0, _ := w[0].Close.Meter.Interfaces.Of("eth0")
			eth0.Queue.SentBytes += eth0.SentBytes / 25
			w[0].Close.Meter.Interfaces.Set("eth0", eth0)
		}, trial.Link, "96."},
		{"beside busy strangers", 0, func(w []record.Worker) {
			carried(&w[0], 0.97)
			strangers(w, 0, 1, 2, 3)
			waitedFor(&w[0], 0.01)
			waitedFor(&w[1], 0.01)
		}, trial.Link, "97.0 %"},
		{"beside strangers that the ends waited for", 0, func(w []record.Worker) {
			carried(&w[0], 0.97)
			strangers(w, 0, 1, 2, 3)
			waitedFor(&w[0], 0.2)
			waitedFor(&w[1], 0.2)
		}, trial.Link, "97.0 % of its rate, headers included; also host-cpu: all 4 CPUs of local were 100.0 % busy"},
		{"beside a full thread", 0, func(w []record.Worker) { carried(&w[0], 0.97); busyFor(&w[0], 1, 0.98) }, trial.Link, "; also server-core: thread 4712"},
		{"more than any link carries: the rate is made up", 0, func(w []record.Worker) { carried(&w[0], 5) }, trial.Latency, ""},
	} {
		got := overLink(t, synthetic.Options{Rate: c.rate}, func(r *record.Record) { c.change(r.Workers) })
		if got.Limit != c.want || !strings.Contains(got.LimitProof, c.proof) {
			t.Errorf("%s: %s (%s), want %s (%s); share %v", c.name, got.Limit, got.LimitProof, c.want, c.proof, got.Values.At("link_rate_share"))
		}
	}
}

// A reply that waits in its link's queue does not wait for the other end.
func TestLinkIsTheLimitWhereRepliesWaitInItsQueue(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w []record.Worker)
		want   trial.Limit
		proof  string
	}{
		{"nothing waits", func([]record.Worker) {}, trial.Latency, ""},
		{"the shaper held packets back", func(w []record.Worker) { shaped(&w[0], 2.5) }, trial.Link, "the interface of the server held packets back 2310 times while 924 left (264 KiB waited there at the end, 3 packets were dropped)"},
		{"for longer than the ends waited for a CPU", func(w []record.Worker) {
			shaped(&w[0], 2.5)
			strangers(w, 0, 1, 2, 3)
			waitedFor(&w[0], 0.5)
			waitedFor(&w[1], 0.15)
		}, trial.Link, "; also host-cpu: all 4 CPUs of local were 100.0 % busy"},
		{"for less long than the ends waited for a CPU", func(w []record.Worker) {
			shaped(&w[0], 2.5)
			strangers(w, 0, 1, 2, 3)
			waitedFor(&w[0], 0.5)
			waitedFor(&w[1], 0.25)
		}, trial.HostCPU, "waited for a CPU for 75.0 % of their time"},
		{"a few packets", func(w []record.Worker) { shaped(&w[0], 0.4) }, trial.Latency, ""},
		{"on a link that was idle most of the time", func(w []record.Worker) { carried(&w[0], 0.4); carried(&w[1], 0.4); shaped(&w[0], 2.5) }, trial.Latency, ""},
		{"the client's shaper", func(w []record.Worker) { shaped(&w[0], 0); shaped(&w[1], 2.5) }, trial.Link, "the interface of the client"},
		{"round trips grew", func(w []record.Worker) { delayed(&w[0], &w[1]) }, trial.Link, "the server's 2 connections had data to send for 90.0 % of the window, and their round trips took 20.0 ms longer than the shortest, 50.0 µs"},
		{"by less than a millisecond", func(w []record.Worker) { delayed(&w[0], &w[1]); w[0].Open.Meter.TCP.RTTNs = 900_000 }, trial.Latency, ""},
		{"over a long way", func(w []record.Worker) { delayed(&w[0], &w[1]); w[0].Close.Meter.TCP.MinRTTNs = 19_000_000 }, trial.Latency, ""},
		{"of a few segments, whose acknowledgement was put off", func(w []record.Worker) { delayed(&w[0], &w[1]); w[0].Close.Meter.TCP.AckedBytes /= 3 }, trial.Latency, ""},
		{"seldom anything to send", func(w []record.Worker) { delayed(&w[0], &w[1]); w[0].Close.Meter.TCP.BusyNs /= 2 }, trial.Latency, ""},
		{"what came lay unread", func(w []record.Worker) {
			delayed(&w[0], &w[1])
			w[1].Close.Meter.TCP.ReceiveBufferedBytes = 15_000
		}, trial.Latency, ""},
		{"on CPUs that others filled, by more than they could", func(w []record.Worker) {
			delayed(&w[0], &w[1])
			strangers(w, 0, 1, 2, 3)
			waitedFor(&w[0], 0.01)
			waitedFor(&w[1], 0.01)
		}, trial.Link, "20.0 ms longer"},
		{"on CPUs that others filled", func(w []record.Worker) {
			delayed(&w[0], &w[1])
			w[0].Close.Meter.TCP.AckedBytes *= 10
			w[0].Open.Meter.TCP.RTTNs = 5_000_000
			strangers(w, 0, 1, 2, 3)
			waitedFor(&w[0], 0.01)
			waitedFor(&w[1], 0.01)
		}, trial.Latency, "for only"},
		{"on loopback", func(w []record.Worker) {
			delayed(&w[0], &w[1])
			for i := range w {
				for _, edge := range []*record.Edge{w[i].Open, w[i].Close} {
					moved, _ := edge.Meter.Interfaces.Of("eth0")
					edge.Meter.Interfaces.Delete("eth0")
					edge.Meter.Interfaces.Set("lo", moved)
				}
			}
		}, trial.Latency, ""},
	} {
		got := overLink(t, synthetic.Options{}, func(r *record.Record) { c.change(r.Workers) })
		if got.Limit != c.want || !strings.Contains(got.LimitProof, c.proof) {
			t.Errorf("%s: %s (%s), want %s (%s); share %v", c.name, got.Limit, got.LimitProof, c.want, c.proof, got.Values.At("link_rate_share"))
		}
	}
	reached := overLink(t, synthetic.Options{Rate: 20000}, func(r *record.Record) { shaped(&r.Workers[0], 2.5) })
	if reached.Limit != trial.Schedule {
		t.Errorf("an open loop that reached its rate: %s (%s)", reached.Limit, reached.LimitProof)
	}
}
