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
)

// The programs of grpc-go's own benchmark, of the version that go.mod names:
// there is nothing to install, the module holds them.
const grpcBenchmark = "google.golang.org/grpc/benchmark/"

var grpcRate = regexp.MustCompile(`(?m)^qps: ([0-9.e+]+)$`)

// grpcPeer is grpc-go's own benchmark: client and server programs, with 128 KiB for
// writes and reads at both ends. It profiles itself all the while, which nothing
// switches off, so that ours is profiled too beside it.
func (b *bed) grpcPeer(size, connections, inflight int) client {
	build := sync.OnceValue(func() error { return b.buildGRPC() })
	return client{name: "grpc-go/benchmark", own: true, drive: func(ctx context.Context, _ string, _ float64) (figure, error) {
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
