package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// questions are the promises that are ratios.
func (b *bed) questions() []question {
	const rate, cpu = "exchanges_per_s", "server.cpu_us_per_exchange"
	echo := func(connections, size string, args ...string) []string {
		return append([]string{"connections=" + connections, "request=" + size, "response=" + size}, args...)
	}
	goEpoll := b.ours("netdyno go-epoll", rate, true, echo("50", "100B", "server=go-epoll")...)
	asio := b.ours("netdyno asio", rate, true, echo("50", "100B", "server=asio", "client=asio")...)
	atRate := func(server, connections string) subject {
		return b.ours("netdyno "+server, cpu, true, echo(connections, "100B", "server="+server, "rate=20000")...)
	}
	echoes := []question{
		{
			name: "echo 100 B × 50, against a bare asio echo", unit: "exchanges/s", hoped: "go-epoll ≥ 1.0, asio ≥ 0.97",
			base: []subject{b.bare("bare-asio-echo", 50, 100)}, others: []subject{goEpoll, asio},
		},
		{
			name: "echo 100 B × 50, against a bare libevent echo", unit: "exchanges/s", hoped: "go-epoll ≥ 1.0",
			base: []subject{b.bare("bare-libevent-echo", 50, 100)}, others: []subject{goEpoll, asio},
		},
		{
			name: "cpu of the server at 20,000/s over 50 connections", unit: "µs/exchange", hoped: "≤ 0.8",
			base: []subject{atRate("go-net", "50")}, others: []subject{atRate("go-epoll", "50"), atRate("asio", "50")},
		},
		{
			name: "cpu of the server at 20,000/s over 10,000 connections", unit: "µs/exchange", hoped: "≤ 0.7",
			base: []subject{atRate("go-net", "10000")}, others: []subject{atRate("go-epoll", "10000"), atRate("asio", "10000")},
		},
		{
			name: "meter: metered against unmetered, 100 B × 50", unit: "exchanges/s", hoped: "≥ 0.99",
			base: []subject{b.ours("unmetered", rate, false, echo("50", "100B", "server=go-epoll")...)}, others: []subject{goEpoll},
		},
		{
			name: "same: go-epoll against itself, 100 B × 50", unit: "exchanges/s", hoped: "1.0: what this machine calls different when nothing differs",
			base: []subject{goEpoll}, others: []subject{goEpoll},
		},
	}
	return slices.Concat(echoes, b.grpcQuestions(), b.nginxQuestions(), b.readQuestions())
}

// absolutes are the promises that are not ratios.
func (b *bed) absolutes(ctx context.Context, asked func(name string) bool) error {
	for _, one := range []struct {
		name    string
		measure func(context.Context) error
	}{{"crowd", b.crowd}, {"meter", b.metering}, {"slot", slot}, {"allocations", allocations}} {
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

// crowd measures what 10,000 connections cost a client before any load.
func (b *bed) crowd(ctx context.Context) error {
	fmt.Println("\ncrowd: 10,000 connections (hoped: connected in < 5 s, client < 200 MB)")
	for _, client := range []string{"go-epoll", "go-net", "asio"} {
		r, err := b.trial(ctx, true, "server=go-epoll", "client="+client, "connections=10000", "rate=20000")
		if err != nil {
			return err
		}
		peak, err := record.MetricNamed("client.peak_rss_bytes")
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
	for _, name := range []string{"server.meter_share", "client.meter_share"} {
		m, err := record.MetricNamed(name)
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
