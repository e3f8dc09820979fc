package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/metric"
)

// ucxQuestions put tagged messages of UCX beside the bandwidth test that comes with
// it: as many outstanding, over the same transports.
func (b *bed) ucxQuestions() []question {
	var all []question
	for _, tls := range []string{"tcp", "shm"} {
		for _, size := range []int{64 << 10, 1 << 20} {
			all = append(all, question{
				name: fmt.Sprintf("ucx %d KiB messages over %s, against ucx_perftest", size>>10, tls), unit: "bytes/s",
				hoped: "≥ 1.0", needs: []string{"ucx_perftest"}, ours: []string{"ucx"},
				base:   []subject{b.ucxPerftest(tls, size)},
				others: []subject{b.ucx(tls, size)},
			})
		}
	}
	return all
}

// ucxOutstanding is how many messages either side has under way.
const ucxOutstanding = 64

// ucx is a subject that sends messages of a size, one thread at each end.
func (b *bed) ucx(tls string, size int) subject {
	return b.ours("netdyno ucx", metric.Goodput, true, "transport=ucx", "opt.tls="+tls, "opt.window="+strconv.Itoa(ucxOutstanding),
		"stream=up", "request=16MiB", "response=1B", fmt.Sprintf("chunk=%dB", size), "inflight=8", "connections=1", "threads=1")
}

// ucxPerftest is a subject of UCX's own test of tagged messages.
func (b *bed) ucxPerftest(tls string, size int) subject {
	messages := 0 // that take about a window
	return subject{"ucx_perftest tag_bw", func(ctx context.Context) (figure, error) {
		if messages == 0 {
			const few = 500
			rate, err := b.perftest(ctx, tls, size, few)
			if err != nil {
				return figure{}, err
			}
			messages = max(few, int(rate*b.window.Seconds())/size)
		}
		rate, err := b.perftest(ctx, tls, size, messages)
		return figure{value: rate}, err
	}}
}

// perftest runs both ends of ucx_perftest and returns bytes per second.
func (b *bed) perftest(ctx context.Context, tls string, size, messages int) (float64, error) {
	// Without self, UCX has no way for a worker to reach itself, as ours has none.
	with := []string{"env", "UCX_TLS=" + tls, "UCX_NET_DEVICES=lo", "ucx_perftest"}
	server, err := b.serve(ctx, func(port string) []string { return append(slices.Clone(with), "-p", port) })
	if err != nil {
		return 0, err
	}
	defer server.end()
	const warmUp = 200
	argv := append(slices.Clone(with), "127.0.0.1", "-p", server.port, "-t", "tag_bw", "-s", strconv.Itoa(size),
		"-n", strconv.Itoa(messages), "-w", strconv.Itoa(warmUp), "-O", strconv.Itoa(ucxOutstanding), "-f", "-v")
	out, _, err := drive(ctx, argv...)
	if err != nil {
		return 0, err
	}
	rate, err := perftestRate(string(out))
	if err != nil {
		return 0, fmt.Errorf("ucx_perftest printed %q: %w", out, err)
	}
	return rate, nil
}

// perftestRate reads the overall bandwidth, in MB of 2^20 bytes per second, from the
// comma-separated table that ucx_perftest prints: a line of names and one of figures.
func perftestRate(printed string) (float64, error) {
	lines := strings.Split(strings.TrimSpace(printed), "\n")
	if len(lines) < 2 {
		return 0, errors.New("expected a line of names and one of figures")
	}
	names, figures := strings.Split(lines[len(lines)-2], ","), strings.Split(lines[len(lines)-1], ",")
	column := slices.Index(names, "overall_bw")
	if column < 0 || column >= len(figures) {
		return 0, errors.New("expected a column overall_bw")
	}
	rate, err := strconv.ParseFloat(strings.TrimSpace(figures[column]), 64)
	if err != nil || !(rate > 0) {
		return 0, fmt.Errorf("overall_bw is %q, expected a rate", figures[column])
	}
	return rate * (1 << 20), nil
}
