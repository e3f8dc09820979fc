package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/session"
)

// The CPUs of every measurement here: one for each end.
const serverCPU, clientCPU = "0", "1"

// bed is where everything is measured: our workers and the bare peers.
type bed struct {
	bin     string // our binaries
	peers   string // the bare peers
	temp    string // what peers need to write, removed at the end
	window  time.Duration
	catalog bench.Catalog

	messages map[string]contract.Structure // of users, by level of factor message
}

func newRig(ctx context.Context, window time.Duration) (*bed, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	// Peers that are in no package are in .tools.
	if err := os.Setenv("PATH", filepath.Join(root, ".tools")+string(os.PathListSeparator)+os.Getenv("PATH")); err != nil {
		return nil, err
	}
	b := &bed{bin: filepath.Join(root, "bin"), peers: filepath.Join(root, "build", "native", "bin"), window: window}
	if b.catalog = bench.Discover(ctx, []string{b.bin}); len(b.catalog.Programs) == 0 {
		return nil, errors.New("no workers in bin/: run `make build`, then this from the repository's root")
	}
	b.temp, err = os.MkdirTemp("", "netdyno-bench-")
	return b, err
}

// netdyno is the path of our own program.
func (b *bed) netdyno() string { return filepath.Join(b.bin, "netdyno") }

// unoffered returns the transports that no worker in bin/ has.
func (b *bed) unoffered(transports []string) []string {
	return slices.DeleteFunc(slices.Clone(transports), func(name string) bool {
		return slices.ContainsFunc(b.catalog.Offers(), func(o bench.Offer) bool { return o.Name == name })
	})
}

func (b *bed) remove() { _ = os.RemoveAll(b.temp) } // what stays behind is the system's to clear

// pinned is the loopback rig with one CPU for each end by taskset, so that a
// worker without a meter sits like one with it.
type pinned struct{ rig.Loopback }

func (pinned) Hosts() []rig.Host {
	there := rig.Loopback{}.Hosts()[0]
	host := func(name, cpu string) rig.Host {
		h := there
		h.Name, h.BootID, h.CPUs, h.Prefix = name, "this host", nil, []string{"taskset", "-c", cpu}
		return h
	}
	return []rig.Host{host("server", serverCPU), host("clients", clientCPU)}
}

// trial measures one trial of ours and returns its record.
func (b *bed) trial(ctx context.Context, metered bool, args ...string) (*record.Record, error) {
	return b.conduct(ctx, pinned{}, metered, false, args)
}

func (b *bed) conduct(ctx context.Context, on rig.Rig, metered, profiled bool, args []string) (*record.Record, error) {
	args = append([]string{"blocks=1", "warmup=200ms", "window=" + b.window.String()}, args...)
	if !slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, "client=") || strings.HasPrefix(a, "transport=") }) {
		args = append(args, "client=go-epoll")
	}
	_, trials, err := session.TrialsOf(dedupe(args)...)
	if err != nil {
		return nil, err
	}
	t := bench.Bench{Rig: on, Catalog: &b.catalog, Messages: b.messages}
	if metered {
		t.Meter = []string{filepath.Join(filepath.Dir(b.netdyno()), "netdyno-host"), "meter"}
	}
	trials[0].Probe = profiled
	records, err := session.Conduct(ctx, &t, trials[:1])
	if err != nil {
		return nil, err
	}
	kept := &records[0]
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
	return subject{name, func(ctx context.Context) (figure, error) {
		r, err := b.trial(ctx, metered, args...)
		if err != nil {
			return figure{}, err
		}
		v, err := metricOf(r, metric)
		return figure{value: v}, err
	}}
}

func metricOf(r *record.Record, name string) (float64, error) {
	m, err := metric.Named(name)
	if err != nil {
		return 0, err
	}
	v, ok := m.Value(r)
	if !ok {
		return 0, fmt.Errorf("the trial has no %s", name)
	}
	return v, nil
}
