package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"netdyno/internal/metric"
)

// questions are the promises that are ratios.
func (b *bed) questions() []question {
	return slices.Concat(b.echoQuestions(), b.grpcQuestions(), b.http3Questions(), b.bulkQuestions(), b.ucxQuestions(), b.mpiQuestions(), b.messageQuestions(), b.readQuestions(), b.linkQuestions(), b.followQuestions())
}

// absolutes are the promises that are not ratios.
func (b *bed) absolutes(ctx context.Context, asked func(name string) bool) error {
	for _, one := range []struct {
		name    string
		measure func(context.Context) error
	}{{"many-connections", b.manyConnections}, {"meter", b.metering}, {"overhead", b.overhead}, {"following", b.following}, {"mpi-start", b.mpiStart}, {"slot", slot}, {"allocations", allocations}, {"report", b.report}, {"gaps", b.gaps}, {"start-up", b.startUp}} {
		if !asked(one.name) {
			continue
		}
		if err := one.measure(ctx); err != nil {
			return fmt.Errorf("%s: %w", one.name, err)
		}
	}
	return nil
}

// slot measures the path that every exchange takes through us.
func slot(ctx context.Context) error {
	fmt.Println("\nslot: Next + Done without the clock (hoped: ≤ 60 ns, 0 allocations)")
	c := exec.CommandContext(ctx, "go", "test", "./internal/work/load", "-run", "^$", "-bench", "Slot", "-count", "3")
	c.Stderr = os.Stderr
	out, err := c.Output()
	for line := range strings.Lines(string(out)) {
		if strings.HasPrefix(line, "Benchmark") {
			fmt.Print("  ", line)
		}
	}
	return err
}

// manyConnections measures what 10,000 connections cost a client before any load.
func (b *bed) manyConnections(ctx context.Context) error {
	fmt.Println("\nmany connections: 10,000 connections (hoped: connected in < 5 s, client < 200 MB)")
	for _, client := range []string{"go-epoll", "go-net", "asio"} {
		r, err := b.trial(ctx, true, "server=go-epoll", "client="+client, "connections=10000", "rate=20000")
		if err != nil {
			return err
		}
		peak, err := metric.Named(metric.OfClient + metric.PeakRSS)
		if err != nil {
			return err
		}
		rss, _ := peak.Value(r)
		fmt.Printf("  client %-10s ready after %.2f s, peak RSS %.1f MB\n", client, float64(r.Timeline.ReadyNs)/1e9, rss/1e6)
	}
	return nil
}

// metering prints what the meters themselves took in the window: exact where
// the rates of metered and unmetered trials drown in the machine's noise.
func (b *bed) metering(ctx context.Context) error {
	fmt.Println("\nmeter: its own CPU as a share of what it meters (hoped: < 1 %)")
	r, err := b.trial(ctx, true, "server=go-epoll", "connections=50", "window=5s")
	if err != nil {
		return err
	}
	for _, name := range []string{metric.OfServer + metric.MeterShare, metric.OfClient + metric.MeterShare} {
		m, err := metric.Named(name)
		if err != nil {
			return err
		}
		share, ok := m.Value(r)
		if !ok {
			return fmt.Errorf("the trial has no %s", name)
		}
		fmt.Printf("  %-20s %.3f %%\n", name, 100*share)
	}
	return nil
}

// readQuestions ask what reading a body into a pooled buffer saves.
func (b *bed) readQuestions() []question {
	of := func(name, metric, read string) subject {
		return b.ours(name, metric, true, "transport=go-http1", "request=0B", "response=4MiB", "connections=4", "opt.read="+read)
	}
	ask := func(what, unit, hoped, metric string) question {
		return question{
			name: "read: pooled against ReadAll, 4 MiB, " + what, unit: unit, hoped: hoped,
			base: []subject{of("read=all", metric, "all")}, others: []subject{of("read=pooled", metric, "pooled")},
			ours: []string{"go-http1"},
		}
	}
	return []question{
		ask("rate", "blocks/s", "published: 4.0", metric.ExchangesPerS),
		ask("CPU of the client", "s/GB", "below 1", metric.OfClient+metric.CPUPerGB),
		ask("allocated at the client", "B/block", "far below 1", metric.OfClient+metric.AllocPerExchange),
	}
}

// echoQuestions put servers and clients of ours for wire echo beside each other, and
// beside themselves without a meter.
func (b *bed) echoQuestions() []question {
	const rate, cpu = metric.ExchangesPerS, metric.OfServer + metric.CPUPerExchange
	echo := func(connections, size string, args ...string) []string {
		return append([]string{"connections=" + connections, "request=" + size, "response=" + size}, args...)
	}
	both := func(transport, size string) subject {
		return b.ours("netdyno "+transport, rate, true, echo("50", size, "transport="+transport)...)
	}
	floors := []string{"go-epoll", "asio", "libevent", "uring"}
	rings := func(name, size string) question {
		return question{
			name: "rings: echo " + name + " × 50, uring against asio", unit: "exchanges/s", hoped: "≥ 1.0", ours: []string{"asio", "uring"},
			base: []subject{both("asio", size)}, others: []subject{both("uring", size)},
		}
	}
	atRate := func(server, connections string) subject {
		return b.ours("netdyno "+server, cpu, true, echo(connections, "100B", "server="+server, "rate=20000")...)
	}
	cost := func(connections, hoped string) question {
		return question{
			name: "cpu of the server at 20,000/s over " + connections + " connections", unit: "µs/exchange", hoped: hoped, ours: floors,
			base:   []subject{atRate("go-net", connections)},
			others: []subject{atRate("go-epoll", connections), atRate("asio", connections), atRate("libevent", connections), atRate("uring", connections)},
		}
	}
	goEpoll := b.ours("netdyno go-epoll", rate, true, echo("50", "100B", "server=go-epoll")...)
	return []question{
		rings("100 B", "100B"),
		rings("16 KiB", "16KiB"),
		cost("50", "≤ 0.8"),
		cost("10000", "≤ 0.7"),
		{
			name: "meter: metered against unmetered, 100 B × 50", unit: "exchanges/s", hoped: "≥ 0.99",
			base: []subject{b.ours("unmetered", rate, false, echo("50", "100B", "server=go-epoll")...)}, others: []subject{goEpoll},
		},
		{
			name: "same: go-epoll against itself, 100 B × 50", unit: "exchanges/s", hoped: "1.0: what this machine calls different when nothing differs",
			base: []subject{goEpoll}, others: []subject{goEpoll},
		},
	}
}
