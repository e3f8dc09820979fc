package doctor

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/procfs"
	"pgregory.net/rapid"

	"netdyno/internal/record"
)

func TestPreflightOfAQuietHost(t *testing.T) {
	needs := Needs{
		Connections: 10_000, Clients: 2, Servers: 1, SourceAddresses: 1, Placement: "separate",
		CPUSets: map[string][]int{"server": {0, 1}, "client-1": {2}, "client-2": {3}},
	}
	warnings, err := Preflight([]Needs{needs}, but("net.somaxconn", "65535"), Sample{LoadAverage: 9, BusyShare: 0.02})
	if err != nil || len(warnings) != 0 {
		t.Errorf("warnings %+v, error %v; want none", warnings, err)
	}
}

func TestPreflightRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		needs Needs
		facts record.Host
		want  []string
	}{
		"descriptors of the client": {
			Needs{Connections: 1000, Clients: 1}, but("limits.nofile_hard", "1024"), []string{"needs 1064", "1024", "ulimit -n 1064", "limits.conf"},
		},
		"descriptors of the server": {
			Needs{Connections: 400, Clients: 3, Servers: 1}, but("limits.nofile_hard", "1024"), []string{"needs 1264", "1024", "; or more processes, which share the connections: servers=2"},
		},
		"descriptors of both ends": {
			Needs{Connections: 2500, Clients: 1, Servers: 1}, but("limits.nofile_hard", "1024"), []string{"needs 2564", "clients=3 servers=3"},
		},
		"descriptors of one of two servers": {
			Needs{Connections: 1000, Clients: 2, Servers: 2}, but("limits.nofile_hard", "1024"), []string{"needs 1064", "clients=3 servers=3"},
		},
		"ports": {
			Needs{Connections: 30_000, Clients: 2, SourceAddresses: 2}, but("net.port_range", "32768-60999"),
			[]string{"60000 connections", "56464", "3 source addresses", "127.0.0.2"},
		},
		"ports by listener": {
			Needs{Connections: 30_000, Clients: 2, SourceAddresses: 1, Ways: 2}, but("net.port_range", "32768-60999"), []string{"60000 connections", "56464"},
		},
		"CPUs that do not exist": {
			Needs{CPUSets: map[string][]int{"server": {1, 99}}}, but(), []string{"server", "1,99", "0-15"},
		},
	} {
		_, err := Preflight([]Needs{c.needs}, c.facts, Sample{})
		if err == nil {
			t.Errorf("%s: no error", name)
			continue
		}
		for _, part := range c.want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %q does not say %q", name, err, part)
			}
		}
	}
}

// What is too low is told in one go, for the largest of the trials, with one command.
func TestPreflightTellsAllLimitsAtOnce(t *testing.T) {
	plan := []Needs{
		{Connections: 500, Clients: 1, Servers: 1}, {Connections: 50_000, Clients: 1, Servers: 1}, {Connections: 5000, Clients: 1, Servers: 1},
	}
	_, err := Preflight(plan, but("limits.nofile_hard", "256", "limits.nofile_soft", "128", "net.port_range", "32768-60999"), Sample{})
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range []string{
		"a worker needs 50064 and at most 256 are allowed", "50000 connections need as many ports", "net.somaxconn: 50000 connections may come at once",
		`all of it at once: ulimit -n 50064 && sysctl -w net.ipv4.ip_local_port_range="1024 65535" && sysctl -w net.core.somaxconn=50000`,
	} {
		if strings.Count(err.Error(), part) != 1 {
			t.Errorf("error %q says %q %d times, want once", err, part, strings.Count(err.Error(), part))
		}
	}
	if strings.Contains(err.Error(), "5064 and") && !strings.Contains(err.Error(), "50064 and") || strings.Count(err.Error(), "\n") != 3 {
		t.Errorf("error %q tells smaller trials too", err)
	}
	warnings, err := Preflight(plan, but("limits.nofile_soft", "128", "limits.nofile_hard", "1048576", "net.port_range", "1024-65535"), Sample{})
	if err != nil || len(warnings) != 2 {
		t.Errorf("warnings %+v, error %v; want one about descriptors and one about the queue", warnings, err)
	}
}

func TestPreflightWarns(t *testing.T) {
	for name, c := range map[string]struct {
		needs Needs
		facts record.Host
		now   Sample
		about string
		want  string
	}{
		"soft limit":   {Needs{Connections: 2000, Clients: 1}, but("limits.nofile_soft", "1024"), Sample{}, "limits.nofile_soft", "2064"},
		"few ports":    {Needs{Connections: 27_000, Clients: 1}, but("net.port_range", "32768-60999"), Sample{}, "net.port_range", "27000"},
		"fresh":        {Needs{Connections: 1, Clients: 1, Fresh: true}, but(), Sample{}, "net.port_range", "1075 new connections"},
		"backlog":      {Needs{Connections: 3000, Clients: 2, Servers: 1}, but(), Sample{}, "net.somaxconn", "at most 4096"},
		"busy":         {Needs{}, but(), Sample{BusyShare: 0.4, LoadAverage: 3}, "busy-machine", "40 %"},
		"steal":        {Needs{}, but(), Sample{StealShare: 0.03}, "busy-machine", "3.0 %"},
		"both in one":  {Needs{}, but(), Sample{BusyShare: 0.4, StealShare: 0.03}, "busy-machine", "40 % of the CPUs are busy before the run (load average 0.00) and the hypervisor takes 3.0 %"},
		"overlap":      {Needs{CPUSets: map[string][]int{"server": {0, 1}, "client-1": {1}}}, but(), Sample{}, "cpu-sets", "client-1 and server share CPUs 1"},
		"siblings":     {Needs{CPUSets: map[string][]int{"server": {0}, "client-1": {8}}}, but("cpu.topology", "0,8;1,9"), Sample{}, "cpu-sets", "0,8"},
		"unknown host": {Needs{Connections: 27_000, Clients: 1}, record.Host{}, Sample{}, "net.port_range", "28232"},
	} {
		warnings, err := Preflight([]Needs{c.needs}, c.facts, c.now)
		if err != nil || len(warnings) != 1 || warnings[0].About != c.about ||
			!strings.Contains(warnings[0].Text, c.want) || warnings[0].Advice == "" {
			t.Errorf("%s: warnings %+v, error %v; want one about %s that says %q", name, warnings, err, c.about, c.want)
		}
	}
	shared := Needs{Placement: "shared", CPUSets: map[string][]int{"server": {0}, "client-1": {0}}}
	if warnings, err := Preflight([]Needs{shared}, but(), Sample{}); err != nil || len(warnings) != 0 {
		t.Errorf("placement=shared: warnings %+v, error %v; want none", warnings, err)
	}
}

func TestWaysNeededSuffice(t *testing.T) {
	if got := WaysNeeded(0, 28_232); got != 1 {
		t.Errorf("no connections need %d ways, want 1", got)
	}
	rapid.Check(t, func(t *rapid.T) {
		connections := rapid.IntRange(1, 1_000_000).Draw(t, "connections")
		ports := rapid.IntRange(2, 64_512).Draw(t, "ports")
		n := WaysNeeded(connections, ports)
		if float64(n*ports)*usablePorts < float64(connections) {
			t.Fatalf("%d addresses with %d ports do not carry %d connections", n, ports, connections)
		}
		if n > 1 && (n-1)*int(float64(ports)*usablePorts) >= connections {
			t.Fatalf("%d addresses are one too many for %d connections", n, connections)
		}
	})
}

func TestShares(t *testing.T) {
	before := procfs.CPUStat{User: 1, Idle: 10, Steal: 1}
	after := procfs.CPUStat{User: 1.2, System: 0.1, Guest: 5, Idle: 10.6, Steal: 1.1}
	s := shares(before, after)
	if s.BusyShare < 0.299 || s.BusyShare > 0.301 || s.StealShare < 0.099 || s.StealShare > 0.101 {
		t.Errorf("shares %+v, want 30 %% busy and 10 %% stolen", s)
	}
	if s := shares(before, before); s != (Sample{}) {
		t.Errorf("shares of no time %+v, want zero", s)
	}
}

func TestObserve(t *testing.T) {
	s, err := Observe(t.Context(), SampleFor)
	if err != nil || s.BusyShare < 0 || s.BusyShare > 1 {
		t.Errorf("Observe = %+v, %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Observe(ctx, time.Hour); !errors.Is(err, context.Canceled) {
		t.Errorf("Observe of a done context: %v", err)
	}
}

func TestOwnFiles(t *testing.T) {
	if err := OwnFiles(1024, 3, 5000); err != nil {
		t.Error(err)
	}
	for each, want := range map[int]string{
		0: "needs 144 and at most 16 are allowed here; ulimit -n 144", 1064: "needs 144, a worker 1064, and at most 16 are allowed here; ulimit -n 1064",
	} {
		if err := OwnFiles(16, 2, each); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("OwnFiles(16, 2, %d) = %v, want what is needed and how to get it", each, err)
		}
	}
}
