package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// The CPUs of every measurement here: one for each end.
const serverCPU, clientCPU = "0", "1"

// bed is where everything is measured: our workers and the bare peers.
type bed struct {
	bin     string // our binaries
	peers   string // the bare peers
	window  time.Duration
	catalog bench.Catalog
}

func newRig(ctx context.Context, window time.Duration) (*bed, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	b := &bed{bin: filepath.Join(root, "bin"), peers: filepath.Join(root, "build", "native", "bin"), window: window}
	if b.catalog = bench.Discover(ctx, []string{b.bin}); len(b.catalog.Programs) == 0 {
		return nil, errors.New("no workers in bin/: run `make build`, then this from the repository's root")
	}
	return b, nil
}

// pinned is the loopback rig with one CPU for each end by taskset, so that a
// worker without a meter sits like one with it.
type pinned struct{ rig.Loopback }

func (pinned) Seats(_ string, clients int) (rig.Seat, []rig.Seat, error) {
	seat := func(cpu string) rig.Seat {
		return rig.Seat{Name: "local", Address: "127.0.0.1", Prefix: []string{"taskset", "-c", cpu}}
	}
	them := make([]rig.Seat, clients)
	for i := range them {
		them[i] = seat(clientCPU)
	}
	return seat(serverCPU), them, nil
}

// trial measures one trial of ours and returns its record.
func (b *bed) trial(ctx context.Context, metered bool, args ...string) (*record.Record, error) {
	args = append([]string{"client=go-epoll", "blocks=1", "warmup=200ms", "window=" + b.window.String()}, args...)
	s, err := study.ParseArgs(dedupe(args), os.ReadFile)
	if err != nil {
		return nil, err
	}
	trials, _, err := s.Plan()
	if err != nil {
		return nil, err
	}
	var kept *record.Record
	t := bench.Bench{Rig: pinned{}, Catalog: &b.catalog, Keep: func(r record.Record) error { kept = &r; return nil }}
	if metered {
		t.Meter = []string{filepath.Join(b.bin, "netdyno"), "meter"}
	}
	if err := t.Run(ctx, trials[:1]); err != nil {
		return nil, err
	}
	if kept.Failure != nil {
		return nil, fmt.Errorf("trial failed: %s", kept.Failure.Text)
	}
	return kept, nil
}

// dedupe lets a later key replace an earlier default.
func dedupe(args []string) []string {
	last := map[string]int{}
	for i, a := range args {
		key, _, _ := bytes.Cut([]byte(a), []byte("="))
		last[string(key)] = i
	}
	var out []string
	for i, a := range args {
		key, _, _ := bytes.Cut([]byte(a), []byte("="))
		if last[string(key)] == i {
			out = append(out, a)
		}
	}
	return out
}

// ours is a subject that runs a trial and reads one metric.
func (b *bed) ours(name, metric string, metered bool, args ...string) subject {
	return subject{name, func(ctx context.Context) (float64, error) {
		r, err := b.trial(ctx, metered, args...)
		if err != nil {
			return 0, err
		}
		m, err := record.MetricNamed(metric)
		if err != nil {
			return 0, err
		}
		v, ok := m.Value(r)
		if !ok {
			return 0, fmt.Errorf("the trial has no %s", metric)
		}
		return v, nil
	}}
}

// bare is a subject that runs a bare peer's server and client.
func (b *bed) bare(program string, connections, size int) subject {
	return subject{program, func(ctx context.Context) (float64, error) {
		port, err := freePort()
		if err != nil {
			return 0, err
		}
		path := filepath.Join(b.peers, program)
		server := exec.CommandContext(ctx, "taskset", "-c", serverCPU, path, "server", port)
		if err := server.Start(); err != nil {
			return 0, err
		}
		defer func() {
			_ = server.Process.Kill() // our own child
			_ = server.Wait()         // killed
		}()
		if err := awaitPort(ctx, port); err != nil {
			return 0, err
		}
		client := exec.CommandContext(ctx, "taskset", "-c", clientCPU, path, "client", port,
			strconv.Itoa(connections), strconv.Itoa(size), fmt.Sprint(b.window.Seconds()))
		client.Stderr = os.Stderr
		out, err := client.Output()
		if err != nil {
			return 0, err
		}
		var said struct{ Exchanges, Seconds float64 }
		if err := json.Unmarshal(out, &said); err != nil || said.Seconds <= 0 {
			return 0, fmt.Errorf("it printed %q: %w", out, err)
		}
		return said.Exchanges / said.Seconds, nil
	}}
}

func freePort() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(l.Addr().String())
	return port, errors.Join(err, l.Close())
}

func awaitPort(ctx context.Context, port string) error {
	for deadline := time.Now().Add(5 * time.Second); ; {
		conn, err := net.Dial("tcp", "127.0.0.1:"+port)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) || ctx.Err() != nil {
			return fmt.Errorf("the peer does not listen: %w", err)
		}
		time.Sleep(10 * time.Millisecond)
	}
}
