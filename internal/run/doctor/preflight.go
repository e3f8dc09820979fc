package doctor

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netdyno/internal/quantity"
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
	Ways            int  // pairs of a source address and a listener that the connections take in turn; as many as SourceAddresses at least
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

// Preflight says whether a host can run a plan that needs all of the given kinds of
// trials. Warnings name what will disturb the run. The error joins everything that makes
// the run impossible, each with the number needed, the number available and the command
// that raises it: every limit that is too low is named at once, for the largest trial.
func Preflight(all []Needs, facts record.Host, now Sample) ([]record.Warning, error) {
	p := preflight{all: all, known: facts.Values}
	p.limits()
	for _, n := range all {
		p.placement(n)
	}
	p.neighbours(now)
	if len(p.refusals) > 0 && len(p.commands) > 1 {
		for _, w := range p.warnings { // what would be the next to be too low
			if slices.ContainsFunc(p.commands, func(command string) bool { return strings.Contains(w.Advice, command) }) {
				p.refusals = append(p.refusals, fmt.Errorf("%s: %s", w.About, w.Text))
			}
		}
		p.refusals = append(p.refusals, errors.New("all of it at once: "+strings.Join(p.commands, " && ")))
	}
	return p.warnings, errors.Join(p.refusals...)
}

// WaysNeeded returns over how many pairs of a source address and a listener so many
// connections need to go, when each pair has portRange ephemeral ports; at least 1.
func WaysNeeded(connections, portRange int) int {
	each := max(int(float64(portRange)*usablePorts), 1)
	return max((connections+each-1)/each, 1)
}

type preflight struct {
	all      []Needs
	known    known
	warnings []record.Warning
	refusals []error
	commands []string // that raise what is too low
}

func (p *preflight) warn(about, fix, format string, values ...any) {
	w := record.Warning{About: about, Text: fmt.Sprintf(format, values...), Advice: fix}
	if !slices.Contains(p.warnings, w) {
		p.warnings = append(p.warnings, w)
	}
}

func (p *preflight) refuse(about, fix, format string, values ...any) {
	err := fmt.Errorf("%s: %s; %s", about, fmt.Sprintf(format, values...), fix)
	if !slices.ContainsFunc(p.refusals, func(told error) bool { return told.Error() == err.Error() }) {
		p.refusals = append(p.refusals, err)
	}
}

// limits compares what the kernel allows with what the largest trial needs of it.
func (p *preflight) limits() {
	p.files()
	p.ports()
	p.backlog()
}

// most returns the needs of which a number is largest; false where all are 0.
func (p *preflight) most(number func(Needs) float64) (most Needs, ok bool) {
	largest := 0.0
	for _, n := range p.all {
		if x := number(n); x > largest {
			largest, most = x, n
		}
	}
	return most, largest > 0
}

// Files is the number of descriptors that a worker needs: a client holds its own
// connections, and a server its share of those of every client.
func (n Needs) Files() int {
	needed := 0
	if n.Clients > 0 {
		needed = n.Connections + spareFiles
	}
	if n.Servers > 0 {
		needed = max(needed, (n.Connections+n.Servers-1)/n.Servers*max(n.Clients, 1)+spareFiles)
	}
	return needed
}

func (p *preflight) files() {
	n, asked := p.most(func(n Needs) float64 { return float64(n.Files()) })
	if !asked {
		return
	}
	needed, command := n.Files(), fmt.Sprintf("ulimit -n %d", n.Files())
	hard, known := p.known.number("limits.nofile_hard")
	if known && float64(needed) > hard {
		p.commands = append(p.commands, command)
		p.refuse("descriptors", fileLimitFix(needed)+n.spread(int(hard)), "a worker needs %d and at most %.0f are allowed", needed, hard)
		return
	}
	if soft, known := p.known.number("limits.nofile_soft"); known && float64(needed) > soft {
		p.commands = append(p.commands, command)
		p.warn("limits.nofile_soft", fileLimitFix(needed),
			"a worker needs %d descriptors and starts with a limit of %.0f; one that does not raise it will fail", needed, soft)
	}
}

// spread advises how many processes hold all connections within the limit of each.
func (n Needs) spread(allowed int) string {
	if allowed <= spareFiles {
		return ""
	}
	each := allowed - spareFiles
	processes := (n.Connections*max(n.Clients, 1) + each - 1) / each
	var factors []string
	if n.Clients > 0 && processes > n.Clients {
		factors = append(factors, fmt.Sprintf("clients=%d", processes))
	}
	if n.Servers > 0 && processes > n.Servers {
		factors = append(factors, fmt.Sprintf("servers=%d", processes))
	}
	if len(factors) == 0 {
		return ""
	}
	return "; or more processes, which share the connections: " + strings.Join(factors, " ")
}

// ways counts the pairs of source address and listener: a port serves each of them once.
func (n Needs) ways() int { return max(n.Ways, n.SourceAddresses, 1) }

// widestRange is what the range of local ports can be widened to.
const widestRange = 65535 - 1024 + 1

// ports compares ephemeral ports per source address and listener. Clients that bind the
// same address share its ports.
func (p *preflight) ports() {
	n, asked := p.most(func(n Needs) float64 { return float64(n.Connections*n.Clients) / float64(n.ways()) })
	if !asked {
		return
	}
	connections, ways, available := n.Connections*n.Clients, n.ways(), p.known.ports()
	needed := WaysNeeded(connections, available)
	const widen = `sysctl -w net.ipv4.ip_local_port_range="1024 65535"`
	suggestion := fmt.Sprintf("connect from %d source addresses, or to as many listeners (on loopback 127.0.0.2, 127.0.0.3, … work without configuration), or widen the range: %s",
		needed, widen)
	few := ways < needed
	if few && connections <= ways*widestRange {
		p.commands = append(p.commands, widen)
	}
	switch {
	case connections > ways*available:
		p.refuse("ephemeral ports", suggestion, "%d connections need as many ports; %d source address(es) or listener(s) with %d each have %d",
			connections, ways, available, ways*available)
	case few:
		p.warn("net.port_range", suggestion, "%d connections need more than %.0f %% of %d ports; connecting takes longer as they run out",
			connections, usablePorts*100, ways*available)
	}
	for _, n := range p.all {
		if n.Fresh && n.Connections*n.Clients > 0 {
			p.warn("net.port_range", "keep the rate of fresh connections below ports ÷ 60 s, or use more source addresses",
				"each fresh connection leaves its port in TIME_WAIT for 60 s: %d ports are enough for %d new connections per second",
				n.ways()*available, n.ways()*available/60)
		}
	}
}

// backlog compares the connections that may come at once with a listener's queue.
func (p *preflight) backlog() {
	at := func(n Needs) int { return n.Connections * max(n.Clients, 1) * min(n.Servers, 1) }
	n, asked := p.most(func(n Needs) float64 { return float64(at(n)) })
	if backlog, known := p.known.number("net.somaxconn"); asked && known && float64(at(n)) > backlog {
		command := fmt.Sprintf("sysctl -w net.core.somaxconn=%d", at(n))
		p.commands = append(p.commands, command)
		p.warn("net.somaxconn", command,
			"%d connections may come at once, and a listener queues at most %.0f; the others are tried again after 1 s", at(n), backlog)
	}
}

func (p *preflight) placement(n Needs) {
	online, err := cpuset.Parse(p.known["cpu.online"])
	names := slices.Sorted(maps.Keys(n.CPUSets))
	for i, one := range names {
		set := n.CPUSets[one]
		if usable := cpuset.Common(set, online); err == nil && len(online) > 0 && len(usable) < len(set) {
			p.refuse("CPUs of "+one, "choose among "+cpuset.Format(online), "%s are asked for, and not all exist", cpuset.Format(set))
		}
		for _, other := range names[i+1:] {
			p.disjoint(n, one, other)
		}
	}
}

// disjoint warns of two workers whose CPUs are not disjoint, or are siblings.
func (p *preflight) disjoint(n Needs, one, other string) {
	a, b := n.CPUSets[one], n.CPUSets[other]
	if common := cpuset.Common(a, b); len(common) > 0 {
		if n.Placement != "shared" {
			p.warn("cpu-sets", "give each CPUs of its own, or use placement=shared", "%s and %s share CPUs %s", one, other, cpuset.Format(common))
		}
		return
	}
	for siblings := range strings.SplitSeq(p.known["cpu.topology"], ";") { // of "0,2;1,3"
		group, err := cpuset.Parse(siblings)
		if err == nil && len(cpuset.Common(group, a)) > 0 && len(cpuset.Common(group, b)) > 0 {
			p.warn("cpu-sets", "put them on different cores", "%s and %s run on hardware threads %s of one core",
				one, other, cpuset.Format(group))
			return
		}
	}
}

// neighbours looks at what runs on the host now. The load average alone does
// not convict: it remembers the build of a minute ago.
func (p *preflight) neighbours(now Sample) {
	var found, fixes []string
	if now.BusyShare > busyNow {
		found = append(found, fmt.Sprintf("%.0f %% of the CPUs are busy before the run (load average %.2f)", now.BusyShare*100, now.LoadAverage))
		fixes = append(fixes, "stop the programs that top shows")
	}
	if now.StealShare > mostSteal {
		found = append(found, fmt.Sprintf("the hypervisor takes %.1f %% of the CPU time", now.StealShare*100))
		fixes = append(fixes, "use a dedicated instance, or measure when the machine is quieter")
	}
	if len(found) > 0 {
		p.warn("busy-machine", strings.Join(fixes, "; "), "%s", strings.Join(found, " and "))
	}
}

// The files that netdyno itself opens: the run's, those of the programs that are asked
// for their hello, and three pipes for each worker of a trial.
const (
	ownFiles       = 128
	filesPerWorker = 8
)

// OwnFiles refuses to begin a run of so many workers at once where netdyno itself
// may open only so many files. A worker under the same limit needs each files, 0
// for no such worker; the advice is one command that raises the limit for both.
func OwnFiles(allowed uint64, workers, each int) error {
	needed, also := ownFiles+filesPerWorker*workers, ""
	if allowed >= uint64(needed) {
		return nil
	}
	if uint64(each) > allowed {
		also = fmt.Sprintf(", a worker %d,", each)
	}
	return fmt.Errorf("descriptors: netdyno itself needs %d%s and at most %d are allowed here; %s", needed, also, allowed, fileLimitFix(max(needed, each)))
}

// tellable is the difference that a comparison should find at least: half of
// what most people would act on.
const tellable = 0.05

// Undetectable says which differences a plan of so many blocks and such windows cannot
// tell on machines that were calibrated, and what would. Without a calibration it says
// nothing.
func Undetectable(c *record.Calibration, primary []string, blocks int, window time.Duration) []record.Warning {
	if c == nil {
		return nil
	}
	var all []record.Warning
	for _, metric := range primary {
		spread, known := c.Spreads[metric]
		if !known {
			continue
		}
		at, enough := 0.0, 0
		for _, s := range spread.Smallest {
			if s.Blocks <= blocks {
				at = s.Difference
			}
			if s.Difference <= tellable && enough == 0 {
				enough = s.Blocks
			}
		}
		if at <= tellable {
			continue // enough, or fewer blocks than can tell anything, of which the planner warns
		}
		advice := "no usual number of blocks shows smaller differences here: fix what netdyno doctor names, or use a quieter machine"
		if enough > 0 {
			advice = fmt.Sprintf("blocks=%d shows differences of %s", enough, quantity.FormatShare(tellable))
		}
		if c.EnoughWindowS > 2*window.Seconds() && window > 0 {
			advice += fmt.Sprintf("; longer windows help too, up to about %s", quantity.FormatDuration(time.Duration(c.EnoughWindowS*float64(time.Second))))
		}
		all = append(all, record.Warning{
			About:  "blocks",
			Text:   fmt.Sprintf("by its calibration, this machine shows differences in %s of about %s or more with %d blocks", metric, quantity.FormatShare(at), blocks),
			Advice: advice,
		})
	}
	return all
}

// What a run of Go workers was seen to need at the least: threads of netdyno itself, and of
// each worker with its meter.
const (
	ownTasks       = 16
	tasksPerWorker = 16
)

// Tasks refuses a run whose processes and threads are more than may begin here. by says
// which limit leaves so few.
func Tasks(left int, by string, limited bool, workers int) error {
	needed := ownTasks + tasksPerWorker*workers
	if !limited || left >= needed {
		return nil
	}
	return fmt.Errorf("threads: netdyno and its workers need about %d more and %d may begin here (%s); raise that: ulimit -u, pids.max of the control group, --pids-limit of a container, TasksMax of a service",
		needed, left, by)
}
