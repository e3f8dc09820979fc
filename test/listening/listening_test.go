// Package listening_test runs a trial of every worker in bin/ and looks at each socket that
// its processes listen on: at the trial's addresses, and at no other.
package listening_test

import (
	"context"
	"net/netip"
	"path/filepath"
	"slices"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/namespaces"
)

// work makes a trial short, and lets a server live for many looks of the watcher.
var work = []string{"connections=1", "inflight=1", "request=100B", "response=100B", "blocks=1", "warmup=100ms", "window=300ms", "placement=free"}

// ways are the ways in which libraries move messages that choose it, by option.
var ways = map[string][]string{
	"mpi":   {"opt.fabric=auto", "opt.fabric=tcp", "opt.fabric=shm", "opt.fabric=ucx", "opt.fabric=ofi"},
	"mpich": {"opt.fabric=auto", "opt.fabric=tcp", "opt.fabric=shm", "opt.fabric=ofi"},
	"ucx":   {"opt.tls=auto", "opt.tls=tcp", "opt.tls=shm"},
}

func TestListensAtTheTrialsAddressesAlone(t *testing.T) {
	b := benchtest.Built(t)
	for _, o := range b.Catalog.Offers() {
		args, why := argsOf(o)
		if why != "" {
			t.Logf("%s is left out: %s", o.Name, why)
			continue
		}
		inEveryWay(t, b, o.Name, args)
	}
}

// Through a hop another's program listens.
func TestHopsListenAtTheTrialsAddressesAlone(t *testing.T) {
	b := benchtest.Built(t)
	for _, hop := range []string{"nginx", "haproxy", "envoy", "caddy"} {
		t.Run(hop, func(t *testing.T) { listens(t, b, append(work, "transport=go-http1", "path="+hop)) })
	}
}

// Between hosts, libraries must take the interface of the trial, and hosts have others.
func TestListensAtTheTrialsAddressesAloneBetweenHosts(t *testing.T) {
	b := benchtest.Built(t)
	on, err := namespaces.Build(namespaces.Options{Hosts: 2})
	if err != nil {
		t.Skipf("no namespaces here: %v", err)
	}
	defer func() {
		if err := on.Close(); err != nil {
			t.Error(err)
		}
	}()
	b.Rig = on
	for _, o := range b.Catalog.Offers() {
		if !slices.Contains([]string{"mpi", "mpich", "ucx", "go-http1", "go-quic"}, o.Name) {
			continue
		}
		args, _ := argsOf(o)
		inEveryWay(t, b, o.Name, args)
	}
}

// inEveryWay looks at a transport, once for each way that its library has.
func inEveryWay(t *testing.T, b *bench.Bench, name string, args []string) {
	args = slices.Concat(work, args)
	if len(ways[name]) == 0 {
		t.Run(name, func(t *testing.T) { listens(t, b, args) })
	}
	for _, way := range ways[name] {
		t.Run(name+" "+way, func(t *testing.T) { listens(t, b, append(slices.Clip(args), way)) })
	}
}

// argsOf says how to run a transport, or why that cannot be: both ends of its own where it has
// them.
func argsOf(o bench.Offer) (args []string, why string) {
	switch {
	case o.Has(contract.Pair), o.Has(contract.Server) && o.Has(contract.Client):
		args = []string{"transport=" + o.Name}
	case o.Has(contract.Server) && o.Wire == "http/1.1":
		args = []string{"server=" + o.Name, "client=go-http1"}
	default:
		return nil, "it runs only beside a program that is named"
	}
	if o.Encrypted {
		args = append(args, "tls=yes")
	}
	if o.Name == "iperf2" || o.Name == "iperf3" {
		args = append(args, "stream=up")
	}
	if o.Name == "exec" {
		return nil, "it runs a program that is named"
	}
	return args, ""
}

// listens carries out the first trial of a typed study. Where a library or program is missing
// the test is skipped.
func listens(t *testing.T, b *bench.Bench, args []string) {
	t.Helper()
	_, plan := benchtest.Plan(t, args...)
	ctx, cancel := context.WithCancel(t.Context())
	watched := make(chan map[socket]bool)
	go func() { watched <- watch(ctx) }()
	r := benchtest.Conduct(t.Context(), t, b, plan[:1])[0]
	cancel()
	found := <-watched
	if r.Failure != nil && r.Failure.Kind == contract.Unsupported {
		t.Skip(r.Failure.Text)
	}
	if r.Outcome != record.OK {
		t.Fatalf("the trial is %s: %+v", r.Outcome, r.Failure)
	}
	seen(t, r, found)
	own := addresses(b.Rig)
	for s := range found {
		// Nobody else's host reaches a loopback.
		if !own[s.At.Addr()] && !s.At.Addr().IsLoopback() {
			t.Errorf("%s listens on %s %s, expected one of %v", s.Process, s.Protocol, s.At, own)
		}
	}
}

// seen sees to it that the watcher has seen what the servers say they listen on.
func seen(t *testing.T, r record.Record, found map[socket]bool) {
	t.Helper()
	for _, w := range r.Workers {
		if w.Ready == nil {
			continue
		}
		for _, address := range w.Ready.Addresses {
			at, err := netip.ParseAddrPort(address)
			if err != nil {
				t.Fatal(err)
			}
			there := false
			for s := range found {
				there = there || s.At == at
			}
			if !there {
				t.Errorf("%s says that it listens on %s, and no process of the trial was seen to: %v", filepath.Base(w.Name), at, found)
			}
		}
	}
}

// addresses returns those of a rig's hosts.
func addresses(on rig.Rig) map[netip.Addr]bool {
	all := map[netip.Addr]bool{}
	for _, h := range on.Hosts() {
		all[netip.MustParseAddr(h.Address)] = true
	}
	return all
}
