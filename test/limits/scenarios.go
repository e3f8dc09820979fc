package limits

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
	"netdyno/test/lab/relay"
)

// down is a bulk stream to the client.
func down(more ...string) []string {
	return append([]string{"transport=go-net", "stream=down", "request=1KiB", "response=1MiB", "chunk=64KiB", "connections=2"}, more...)
}

// Compressing costs five times as much as reading what was compressed: who sends
// is the end that runs out of CPU.
func compressed(more ...string) []string {
	return append([]string{"transport=go-grpc", "opt.client.compression=gzip", "connections=4"}, more...)
}

// Scenarios returns every scenario: the limits in the order of specification §5, then
// the flags, then a verdict that must be refused.
func Scenarios() []Scenario {
	all := slices.Concat(computing(), sending(), pacing(), flagged(), refused())
	for i := range all {
		if all[i].read == nil {
			all[i].read = limitOf
		}
	}
	return all
}

// computing is what the CPUs bound.
func computing() []Scenario {
	return []Scenario{
		{
			Name: "one thread serves a light client", Want: string(trial.ServerCore), Proof: []string{"server ", "busy"},
			Args: compressed("request=0B", "response=64KiB", "threads=1", "placement=free"),
		},
		{
			Name: "one thread drives a light server", Want: string(trial.ClientCore), Proof: []string{"client-1 ", "busy"},
			Args: compressed("request=64KiB", "response=0B", "threads=1", "placement=free"),
		},
		{
			Name: "more threads than CPUs serve", Want: string(trial.ServerCPU), Proof: []string{"server", "CPUs"},
			Args: compressed("request=0B", "response=64KiB", "threads="+strconv.Itoa(max(2, runtime.NumCPU()))),
		},
		{
			Name: "more threads than CPUs drive", Want: string(trial.ClientCPU), Proof: []string{"client", "CPUs"},
			Args: compressed("request=64KiB", "response=0B", "threads="+strconv.Itoa(max(2, runtime.NumCPU()))),
		},
		{
			Name: "both ends on every CPU", Want: string(trial.HostCPU), Proof: []string{"busy"},
			Args: []string{"transport=asio", "connections=32", "threads=4", "placement=shared"},
		},
	}
}

// sending is what a link, a buffer or a window bounds.
func sending() []Scenario {
	return []Scenario{
		{
			Name: "a full link", Want: string(trial.Link), Proof: []string{"link.rate=200Mbit/s"}, link: true,
			Args: down("link.rate=200Mbit"),
		},
		{
			Name: "a full link beside a busy process for each CPU", Want: string(trial.Link), link: true, busyHost: true,
			Args: down("link.rate=100Mbit"),
		},
		{
			Name: "a link that large replies fill", Want: string(trial.Link), Proof: []string{"link.rate=500Mbit/s"}, link: true,
			Args: []string{"transport=go-http1", "request=0B", "response=1MiB", "connections=2", "link.rate=500Mbit"}, window: 300 * time.Millisecond,
		},
		{
			Name: "a full link of a rate that nobody declared", Want: string(trial.Link), link: true, hidden: 100e6,
			Args: []string{"transport=go-http1", "request=0B", "response=1MiB", "connections=2"},
		},
		{
			Name: "a small receive buffer over a long way", Want: string(trial.ReceiveWindow), link: true,
			Proof: []string{"receive windows of the client", "shortest round trip of 10"},
			Args:  down("link.delay=5ms", "opt.client.receive_buffer=64KiB"),
		},
		{
			Name: "a reader that sleeps", Want: string(trial.ReceiveWindow), Proof: []string{"receive window of the server"},
			Args: []string{"client=go-net", "request=1MiB", "response=1MiB", "connections=2", "inflight=1"}, serve: slowReader,
		},
		{
			Name: "a small send buffer over a long way", Want: string(trial.SendBuffer), Proof: []string{"the server's own send buffer"}, link: true,
			Args: down("link.delay=5ms", "opt.server.send_buffer=32KiB"),
		},
		{
			Name: "a small HTTP/2 window over a long way", Want: string(trial.FlowControl), Proof: []string{"its library's windows, 128 KiB in all"}, link: true,
			Args: []string{
				"transport=go-grpc", "request=0B", "response=1MiB", "connections=2", "inflight=4", "link.delay=5ms",
				"opt.client.window=64KiB", "opt.client.connection_window=64KiB",
			},
		},
	}
}

// pacing is what the load itself bounds.
func pacing() []Scenario {
	return []Scenario{
		{
			Name: "less offered than there is room for", Want: string(trial.Schedule), Proof: []string{"of its offered rate"}, link: true,
			Args: []string{"transport=go-net", "connections=4", "rate=200"},
		},
		{
			Name: "a closed loop over a long way", Want: string(trial.Latency), Proof: []string{"of 2 slots waited"}, link: true,
			Args: []string{"transport=go-net", "connections=2", "link.delay=5ms"},
		},
	}
}

// flagged is what goes wrong within a trial.
func flagged() []Scenario {
	return []Scenario{
		{
			Name: "a link that slows down in mid-window", Want: trial.Unsteady, Proof: []string{"the rate changed by -"}, read: flagOf, link: true,
			Args:    []string{"transport=go-net", "stream=down", "request=1KiB", "response=16KiB", "connections=4", "link.rate=100Mbit"},
			window:  1600 * time.Millisecond,
			halfway: slower,
		},
		{
			Name: "a server that warms up at a low rate", Want: trial.Warming, read: flagOf,
			Proof: []string{"after 1.2 s of warm-up", "server CPU per exchange changed by -"},
			Args:  []string{"client=go-net", "connections=4", "rate=300", "warmup_max=1200ms"}, serve: gettingCheaper,
		},
		{
			Name: "more offered than the link carries", Want: trial.Overloaded, Proof: []string{"of the offered rate"}, read: flagOf, link: true,
			Args: []string{"transport=go-net", "request=1KiB", "response=1KiB", "connections=16", "link.rate=10Mbit", "rate=5000"},
		},
		{
			Name: "a server that waits in a timer", Want: trial.PlateauTimer, Proof: []string{"looks like a timer", "least round trip"}, read: flagOf,
			Args: []string{"client=go-net", "connections=2"}, serve: timer,
		},
		{
			Name: "replies in two writes without TCP_NODELAY", Want: trial.PlateauDelayedACK, read: flagOf,
			Proof: []string{"Nagle × delayed ACK", "the server sent 2.0 segments per exchange"},
			Args:  []string{"client=go-net", "connections=4"}, serve: twoWrites,
		},
		{
			Name: "a link that loses packets of short exchanges", Want: trial.PlateauRetransmit, read: flagOf, link: true,
			Proof: []string{"retransmission timeout", "segments again"},
			Args:  []string{"transport=go-net", "connections=8", "link.delay=1ms", "link.loss=2%"}, window: 2 * time.Second,
		},
		{
			Name: "a reader that copies what the sender does not", Want: trial.ReceiveQueue, Proof: []string{"receive queues of the server", "opt.server.receive_buffer"}, read: flagOf,
			Args: []string{"transport=go-net", "stream=up", "request=8MiB", "response=1B", "chunk=1MiB", "connections=4", "opt.client.send=sendfile",
				"opt.server.receive_buffer=4MiB", "opt.server.read_buffer=4KiB"},
		},
	}
}

// refused is a comparison of servers of which the client was the limit.
func refused() []Scenario {
	return []Scenario{{
		Name: "servers compared by a starved client", Want: string(compare.Invalid), read: verdictOf, blocks: 2, window: time.Second,
		Proof: []string{"the client limited", "says nothing about the server"},
		Args:  compressed("server=go-grpc,go-connect-grpc", "client=go-grpc", "request=64KiB", "response=0B")[1:],
	}}
}

// slower leaves the link a quarter of its rate.
func slower(ctx context.Context, on rig.Rig) error {
	shaper, ok := on.(rig.Shaper)
	if !ok {
		return fmt.Errorf("slow the link down: rig %s cannot shape one", on.Name())
	}
	return shaper.Shape(ctx, record.Link{RateBitsPerS: 25e6})
}

// slowLink is a rig whose link has a rate that no trial asked for.
type slowLink struct {
	*namespaces.Rig
	bits float64
}

// Shape implements rig.Shaper.
func (s slowLink) Shape(ctx context.Context, link record.Link) error {
	link.RateBitsPerS = s.bits
	return s.Rig.Shape(ctx, link)
}

// longWay is a rig whose link also has a delay and losses where the kernel has no netem.
type longWay struct {
	*namespaces.Rig
	relays []*relay.Relay
}

// Shape implements rig.Shaper.
func (w *longWay) Shape(ctx context.Context, link record.Link) error {
	if err := w.release(); err != nil {
		return err
	}
	err := w.Rig.Shape(ctx, link)
	if !errors.Is(err, namespaces.ErrNoNetem) {
		return err
	}
	if err := w.Rig.Shape(ctx, record.Link{RateBitsPerS: link.RateBitsPerS}); err != nil {
		return err
	}
	for i, host := range w.Hosts() {
		r, err := relay.Start(host, relay.Path{Delay: link.Delay, LossShare: link.LossShare, Seed: uint64(i)})
		if err != nil {
			return err
		}
		w.relays = append(w.relays, r)
	}
	return nil
}

// release ends the relays and says what went wrong with them.
func (w *longWay) release() (err error) {
	for _, r := range w.relays {
		err = errors.Join(err, r.Close())
	}
	w.relays = nil
	return err
}

// Close implements rig.Rig.
func (w *longWay) Close() error { return errors.Join(w.release(), w.Rig.Close()) }

func limitOf(f finding.Findings, _ Scenario) (got, proof string) {
	t := first(f)
	if t.Status != trial.Valid {
		return t.Status, t.Reason
	}
	return string(t.Limit), t.LimitProof
}

// flagOf returns the flag that is wanted where the trial has it, else all it
// has.
func flagOf(f finding.Findings, s Scenario) (got, proof string) {
	t := first(f)
	switch {
	case t.Status != trial.Valid:
		return t.Status, t.Reason
	case slices.Contains(t.Flags, s.Want):
		return s.Want, t.Reason
	}
	return "flags: " + strings.Join(t.Flags, " "), fmt.Sprintf("%s; limit %s (%s)", t.Reason, t.Limit, t.LimitProof)
}

// verdictOf returns the verdict on the rates.
func verdictOf(f finding.Findings, _ Scenario) (got, proof string) {
	for _, c := range f.Comparisons {
		if c.Metric == metric.ExchangesPerS {
			return string(c.Verdict), c.Reason
		}
	}
	return "no comparison", ""
}

func first(f finding.Findings) trial.Trial {
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			for _, t := range a.Trials {
				if t.Status != trial.StatusMissing {
					return t
				}
			}
		}
	}
	return trial.Trial{Status: trial.StatusMissing, Reason: "no trial was read"}
}
