package doctor

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

// Needs are what a plan asks of one host at once: the largest trial, not the
// sum. Counts are at least 0; a server elsewhere has Servers 0, clients
// elsewhere have Clients 0.
type Needs struct {
	Connections     int  // of each client process; of all of them when they are elsewhere
	Clients         int  // client processes on this host
	Servers         int  // server processes on this host
	SourceAddresses int  // that each client binds; 0 counts as 1
	Fresh           bool // a new connection for every exchange
	Placement       string
	CPUSets         map[string][]int // by worker, "server", "client-1"; absent or empty is any CPU
}

const (
	// spareFiles are a worker's descriptors besides its connections: stdio,
	// listeners, timers, epoll instances and what its libraries open.
	spareFiles = 64
	// busyNow is the share of the CPUs that may be busy before a run.
	busyNow = 0.10
	// usablePorts is the part of the port range that connects quickly: the
	// kernel searches for a free port, one after another, from a hashed start.
	// Source: Linux kernel, net/ipv4/inet_hashtables.c, __inet_hash_connect.
	usablePorts = 0.9
)

// Preflight says whether a host can run a plan. Warnings are about what will
// disturb it; the error joins everything that makes it impossible, each with
// the numbers needed and available, and how to get there.
func Preflight(needs Needs, facts record.Host, now Sample) ([]record.Warning, error) {
	p := preflight{Needs: needs, known: facts.Values}
	p.files()
	p.ports()
	p.backlog()
	p.placement()
	p.neighbours(now)
	return p.warnings, errors.Join(p.refusals...)
}

// Fits tells whether a host has the descriptors and ports that a plan asks of it.
func Fits(needs Needs, facts record.Host) bool {
	p := preflight{Needs: needs, known: facts.Values}
	p.files()
	p.ports()
	return len(p.refusals) == 0
}

// SourcesNeeded returns how many source addresses a client needs for so many
// connections to one server port, when each address has portRange ephemeral
// ports; at least 1.
func SourcesNeeded(connections, portRange int) int {
	each := max(int(float64(portRange)*usablePorts), 1)
	return max((connections+each-1)/each, 1)
}

type preflight struct {
	Needs
	known    known
	warnings []record.Warning
	refusals []error
}

func (p *preflight) warn(about, fix, format string, values ...any) {
	p.warnings = append(p.warnings, record.Warning{About: about, Text: fmt.Sprintf(format, values...), Advice: fix})
}

func (p *preflight) refuse(about, fix, format string, values ...any) {
	p.refusals = append(p.refusals, fmt.Errorf("%s: %s; %s", about, fmt.Sprintf(format, values...), fix))
}

// files compares descriptors: a client holds its own connections, and a server its
// share of those of every client.
func (p *preflight) files() {
	needed := 0
	if p.Clients > 0 {
		needed = p.Connections + spareFiles
	}
	if p.Servers > 0 {
		needed = max(needed, (p.Connections+p.Servers-1)/p.Servers*max(p.Clients, 1)+spareFiles)
	}
	if needed == 0 {
		return
	}
	hard, known := p.known.number("limits.nofile_hard")
	if known && float64(needed) > hard {
		p.refuse("descriptors", fileLimitFix(needed)+p.spread(int(hard)), "a worker needs %d and at most %.0f are allowed", needed, hard)
		return
	}
	if soft, known := p.known.number("limits.nofile_soft"); known && float64(needed) > soft {
		p.warn("limits.nofile_soft", fileLimitFix(needed),
			"a worker needs %d descriptors and starts with a limit of %.0f; one that does not raise it will fail", needed, soft)
	}
}

// spread advises how many processes hold all connections within the limit of each.
func (p *preflight) spread(allowed int) string {
	if allowed <= spareFiles {
		return ""
	}
	each := allowed - spareFiles
	processes := (p.Connections*max(p.Clients, 1) + each - 1) / each
	var factors []string
	if p.Clients > 0 && processes > p.Clients {
		factors = append(factors, fmt.Sprintf("clients=%d", processes))
	}
	if p.Servers > 0 && processes > p.Servers {
		factors = append(factors, fmt.Sprintf("servers=%d", processes))
	}
	if len(factors) == 0 {
		return ""
	}
	return "; or more processes, which share the connections: " + strings.Join(factors, " ") + ", which clients=auto chooses by itself"
}

// ports compares ephemeral ports per source address. Clients that bind the
// same address share its ports.
func (p *preflight) ports() {
	connections := p.Connections * p.Clients
	if connections == 0 {
		return
	}
	available := p.known.ports()
	sources := max(p.SourceAddresses, 1)
	suggestion := fmt.Sprintf("connect from %d source addresses (on loopback 127.0.0.2, 127.0.0.3, … work without configuration), "+
		`or widen the range: sysctl -w net.ipv4.ip_local_port_range="1024 65535"`, SourcesNeeded(connections, available))
	switch {
	case connections > sources*available:
		p.refuse("ephemeral ports", suggestion, "%d connections need as many ports; %d source address(es) with %d each have %d",
			connections, sources, available, sources*available)
	case sources < SourcesNeeded(connections, available):
		p.warn("net.port_range", suggestion, "%d connections need more than %.0f %% of %d ports; connecting takes longer as they run out",
			connections, usablePorts*100, sources*available)
	}
	if p.Fresh {
		p.warn("net.port_range", "keep the rate of fresh connections below ports ÷ 60 s, or use more source addresses",
			"each fresh connection leaves its port in TIME_WAIT for 60 s: %d ports are enough for %d new connections per second",
			sources*available, sources*available/60)
	}
}

func (p *preflight) backlog() {
	connections := p.Connections * max(p.Clients, 1)
	if backlog, known := p.known.number("net.somaxconn"); known && p.Servers > 0 && float64(connections) > backlog {
		p.warn("net.somaxconn", fmt.Sprintf("sysctl -w net.core.somaxconn=%d", connections),
			"%d connections may come at once, and a listener queues at most %.0f; the others are tried again after 1 s", connections, backlog)
	}
}

func (p *preflight) placement() {
	cpus, known := p.known.number("cpu.count")
	if known && cpus < leastCPUs && p.Placement == record.Separate {
		p.refuse("placement=separate", "use placement=shared or a host with more CPUs", "it needs %d CPUs and there is %.0f", leastCPUs, cpus)
	}
	online, err := cpuset.Parse(p.known["cpu.online"])
	names := make([]string, 0, len(p.CPUSets))
	for name := range p.CPUSets {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, one := range names {
		set := p.CPUSets[one]
		if usable := cpuset.Common(set, online); err == nil && len(online) > 0 && len(usable) < len(set) {
			p.refuse("CPUs of "+one, "choose among "+cpuset.Format(online), "%s are asked for, and not all exist", cpuset.Format(set))
		}
		for _, other := range names[i+1:] {
			p.disjoint(one, other)
		}
	}
}

// siblings parses the fact cpu.topology, "0,2;1,3".
func siblings(topology string) [][]int {
	var groups [][]int
	for text := range strings.SplitSeq(topology, ";") {
		if group, err := cpuset.Parse(text); err == nil && len(group) > 1 {
			groups = append(groups, group)
		}
	}
	return groups
}

// disjoint warns of two workers whose CPUs are not disjoint, or are siblings.
func (p *preflight) disjoint(one, other string) {
	a, b := p.CPUSets[one], p.CPUSets[other]
	if common := cpuset.Common(a, b); len(common) > 0 {
		if p.Placement != "shared" {
			p.warn("cpu-sets", "give each CPUs of its own, or use placement=shared", "%s and %s share CPUs %s", one, other, cpuset.Format(common))
		}
		return
	}
	for _, group := range siblings(p.known["cpu.topology"]) {
		if len(cpuset.Common(group, a)) > 0 && len(cpuset.Common(group, b)) > 0 {
			p.warn("cpu-sets", "put them on different cores", "%s and %s run on hardware threads %s of one core",
				one, other, cpuset.Format(group))
			return
		}
	}
}

// neighbours looks at what runs on the host now. The load average alone does
// not convict: it remembers the build of a minute ago.
func (p *preflight) neighbours(now Sample) {
	if now.BusyShare > busyNow {
		p.warn("load", "stop the programs that top shows, or expect wider intervals",
			"%.0f %% of the CPUs are busy before the run (load average %.2f)", now.BusyShare*100, now.LoadAverage)
	}
	if now.StealShare > mostSteal {
		p.warn("steal", "use a dedicated instance, or measure when the machine is quieter",
			"the hypervisor takes %.1f %% of the CPU time", now.StealShare*100)
	}
}
