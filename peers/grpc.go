package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"sync"
	"time"

	"netdyno/internal/metric"
)

// The programs of grpc-go's own benchmark, of the version that go.mod names:
// there is nothing to install, the module holds them.
const grpcBenchmark = "google.golang.org/grpc/benchmark/"

const perMicro = float64(time.Second / time.Microsecond)

var grpcRate = regexp.MustCompile(`(?m)^qps: ([0-9.e+]+)$`)

// grpcQuestions put our clients beside grpc-go's own benchmark, whose client prints a
// rate and no number of calls. It profiles itself all the while, which nothing switches
// off, so that ours are profiled too beside it.
func (b *bed) grpcQuestions() []question {
	ours := []string{"grpc-nghttp2", "grpcpp", "go-grpc"}
	var all []question
	for _, shape := range []struct{ bytes, connections, calls int }{{100, 10, 10}, {1 << 20, 2, 2}} {
		q := question{
			name: fmt.Sprintf("grpc: %d B × %d × %d calls, against grpc-go's benchmark", shape.bytes, shape.connections, shape.calls),
			unit: "calls/s", cost: "client CPU µs/call", hoped: "rate ≥ 1.0", ours: ours,
			base: []subject{{"grpc-go/benchmark", b.grpcPeer(shape.bytes, shape.connections, shape.calls)}},
		}
		size := strconv.Itoa(shape.bytes) + "B"
		for _, transport := range ours {
			levels := []string{"client=" + transport, "server=go-grpc", "request=" + size, "response=" + size,
				"connections=" + strconv.Itoa(shape.connections), "inflight=" + strconv.Itoa(shape.calls)}
			if transport == "go-grpc" { // as that benchmark has them
				levels = append(levels, "opt.write_buffer=128KiB", "opt.read_buffer=128KiB")
			}
			q.others = append(q.others, subject{transport, func(ctx context.Context) (f figure, err error) {
				r, err := b.conduct(ctx, pinned{}, true, true, levels)
				if err != nil {
					return f, err
				}
				if f.value, err = metricOf(r, metric.ExchangesPerS); err != nil {
					return f, err
				}
				f.cost, err = metricOf(r, metric.OfClient+metric.CPUPerExchange)
				return f, err
			}})
		}
		all = append(all, q)
	}
	return all
}

// grpcPeer runs client and server of that benchmark, with 128 KiB for writes and reads
// at both ends.
func (b *bed) grpcPeer(size, connections, inflight int) func(context.Context) (figure, error) {
	build := sync.OnceValue(func() error { return b.buildGRPC() })
	return func(ctx context.Context) (figure, error) {
		if err := build(); err != nil {
			return figure{}, err
		}
		server, err := b.serve(ctx, func(port string) []string {
			return []string{filepath.Join(b.temp, "server"), "-port", port, "-test_name", b.profileName("server")}
		})
		if err != nil {
			return figure{}, err
		}
		defer server.end()
		const warmup = 1 // its unit is whole seconds
		out, cpu, err := drive(ctx, filepath.Join(b.temp, "client"), "-port", server.port, "-test_name", b.profileName("client"),
			"-c", strconv.Itoa(connections), "-r", strconv.Itoa(inflight), "-req", strconv.Itoa(size), "-resp", strconv.Itoa(size),
			"-w", strconv.Itoa(warmup), "-d", b.wholeSeconds())
		if err != nil {
			return figure{}, err
		}
		found := grpcRate.FindSubmatch(out)
		if found == nil {
			return figure{}, fmt.Errorf("it printed no qps: %s", out)
		}
		rate, err := strconv.ParseFloat(string(found[1]), 64)
		if err != nil || rate <= 0 {
			return figure{}, fmt.Errorf("it printed qps %s: %w", found[1], err)
		}
		seconds, err := strconv.Atoi(b.wholeSeconds())
		all := rate * float64(seconds+warmup) // its CPU is of the warm-up too
		return figure{value: rate, cost: cpu.Seconds() * perMicro / all}, err
	}
}

// buildGRPC builds the two programs into the bench's own directory.
func (b *bed) buildGRPC() error {
	for _, end := range []string{"client", "server"} {
		c := exec.Command("go", "build", "-o", filepath.Join(b.temp, end), grpcBenchmark+end)
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("build %s: %w", grpcBenchmark+end, err)
		}
	}
	return nil
}

// profileName makes the benchmark, which writes its profiles to /tmp/NAME, write
// them into our directory.
func (b *bed) profileName(end string) string { return filepath.Join("..", b.temp, end) }
