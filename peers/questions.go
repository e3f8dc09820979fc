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
	return slices.Concat(b.echoQuestions(), b.grpcQuestions(), b.bulkQuestions(), b.ucxQuestions(), b.mpiQuestions(), b.messageQuestions(), b.readQuestions(), b.linkQuestions(), b.followQuestions())
}

// absolutes are the promises that are not ratios.
func (b *bed) absolutes(ctx context.Context, asked func(name string) bool) error {
	for _, one := range []struct {
		name    string
		measure func(context.Context) error
	}{{"many-connections", b.manyConnections}, {"meter", b.metering}, {"overhead", b.overhead}, {"following", b.following}, {"mpi-start", b.mpiStart}, {"slot", slot}, {"allocations", allocations}, {"report", b.report}} {
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
