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
)

// The programs of grpc-go's own benchmark, of the version that go.mod names:
// there is nothing to install, the module holds them.
const grpcBenchmark = "google.golang.org/grpc/benchmark/"

// grpcQuestions put our gRPC arm beside grpc-go's own benchmark, with that
// benchmark's settings: 128 KiB write and read buffers at both ends. It
// profiles itself all the while, which nothing switches off, so ours is
// profiled too.
func (b *bed) grpcQuestions() []question {
	ask := func(name, size string, bytes, connections, inflight int) question {
		shape := fmt.Sprintf("grpc %s × %d connections × %d calls, against grpc-go's own benchmark", name, connections, inflight)
		return question{
			name: shape, unit: "exchanges/s", hoped: "≥ 1.0", cost: "client CPU µs/exchange", ours: []string{"go-grpc"},
			base: []subject{b.grpcPeer(bytes, connections, inflight)},
			others: []subject{b.profiled("netdyno go-grpc",
				"transport=go-grpc", "request="+size, "response="+size,
				"connections="+strconv.Itoa(connections), "inflight="+strconv.Itoa(inflight),
				"opt.write_buffer=128KiB", "opt.read_buffer=128KiB")},
		}
	}
	return []question{ask("100 B", "100B", 100, 10, 10), ask("1 MiB", "1MiB", 1<<20, 2, 2)}
}

// grpcppQuestions put the C++ worker beside plain gRPC C++ that does the same
// unary work.
func (b *bed) grpcppQuestions() []question {
	ask := func(name, size string, bytes int) question {
		return question{
			name: "grpcpp " + name + " × 10 connections, against bare gRPC C++", unit: "exchanges/s", hoped: "≥ 1.0", ours: []string{"grpcpp"},
			base: []subject{b.bare("bare-grpcpp", 10, bytes)},
			others: []subject{b.ours("netdyno grpcpp", "exchanges_per_s", true,
				"transport=grpcpp", "request="+size, "response="+size, "connections=10")},
		}
	}
	return []question{ask("100 B", "100B", 100), ask("64 KiB", "64KiB", 64<<10)}
}

// profiled is a subject that runs a trial with profilers on, and what its
// client's CPU was.
func (b *bed) profiled(name string, args ...string) subject {
	return subject{name, func(ctx context.Context) (figure, error) {
		r, err := b.conduct(ctx, pinned{}, true, true, args)
		if err != nil {
			return figure{}, err
		}
		rate, err := metricOf(r, "exchanges_per_s")
		if err != nil {
			return figure{}, err
		}
		cost, err := metricOf(r, "client.cpu_us_per_exchange")
		return figure{rate, cost}, err
	}}
}

var grpcRate = regexp.MustCompile(`(?m)^qps: ([0-9.e+]+)$`)

// grpcPeer is grpc-go's own benchmark: client and server programs.
func (b *bed) grpcPeer(size, connections, inflight int) subject {
	build := sync.OnceValue(func() error { return b.buildGRPC() })
	return subject{"grpc-go/benchmark", func(ctx context.Context) (figure, error) {
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
		return figure{rate, cpu.Seconds() * float64(time.Second/time.Microsecond) / all}, err
	}}
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
