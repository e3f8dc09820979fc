package trial

import (
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Limit names the resource that bounded a trial.
type Limit string

// The limits in the order in which they are tried (METHOD §5).
const (
	Link          Limit = "link" // never on loopback, where that is the CPU
	ServerCore    Limit = "server-core"
	ClientCore    Limit = "client-core"
	ServerCPU     Limit = "server-cpu"
	ClientCPU     Limit = "client-cpu"
	HostCPU       Limit = "host-cpu"
	ReceiveWindow Limit = "receive-window" // whose it was is in the proof
	SendBuffer    Limit = "send-buffer"
	FlowControl   Limit = "flow-control" // a library's own windows
	Schedule      Limit = "schedule"
	Latency       Limit = "latency"
	Unknown       Limit = "unknown"
)

// Shares from which a resource counts as the limit (METHOD §5).
const (
	coreBusy = 0.95 // of one thread, or of a CPU set's time that was not idle
	setBusy  = 0.90 // of a CPU set, by the tree's own CPU time
	hostIdle = 0.05
)

// Limits are in the order in which they are tried, the earlier one named when
// two are as frequent (METHOD §5).
var Limits = []Limit{
	Link, ServerCore, ClientCore, ServerCPU, ClientCPU, HostCPU, ReceiveWindow, SendBuffer, FlowControl, Schedule, Latency, Unknown,
}

// limit names what bounded the trial, the end whose it was, if it was one
// end's, and its proof. Whether it was the link, limitByLink says.
func limit(e *audit) (limit Limit, of contract.Role, proof string) {
	groups := workerGroups(e)
	for _, step := range []struct {
		limits map[contract.Role]Limit
		of     func(workerGroup) string
	}{
		{map[contract.Role]Limit{contract.Server: ServerCore, contract.Client: ClientCore}, busyThread},
		{map[contract.Role]Limit{contract.Server: ServerCPU, contract.Client: ClientCPU}, func(c workerGroup) string { return fullSet(c, groups) }},
	} {
		for _, role := range []contract.Role{contract.Server, contract.Client} {
			for _, c := range groups {
				if c.role != role {
					continue
				}
				if proof := step.of(c); proof != "" {
					return step.limits[role], role, proof
				}
			}
		}
	}
	if proof := fullHost(e, groups); proof != "" {
		return HostCPU, "", proof
	}
	if limit, of, proof := restrained(e); proof != "" {
		return limit, of, proof
	}
	if of, proof := flowControlled(e); proof != "" {
		return FlowControl, of, proof
	}
	limit, proof = noResource(e, groups)
	return limit, "", proof
}

// fullHost proves that a whole host, or the CPUs that both ends share on it,
// had no idle time.
func fullHost(e *audit, groups []workerGroup) string {
	for _, h := range e.window.Hosts() {
		if busy, ok := busyShare(h, nil); ok && busy > 1-hostIdle {
			return fmt.Sprintf("all %d CPUs of %s were %.1f %% busy%s", len(h.To.Meter.CPUs), h.Worker.Seat, 100*busy, byOthers(h, groups))
		}
	}
	for _, c := range groups {
		busy, ok := busyShare(c.spans[0], c.set)
		switch {
		case !ok || busy < coreBusy || len(c.set) == 0:
		case c.shares(groups):
			return fmt.Sprintf("server and client share the CPUs %s, which were %.1f %% busy", CPUList(c.set), 100*busy)
		default:
			return fmt.Sprintf("the %s's CPUs %s were %.1f %% busy, but it used only %.3g of them: something else ran there",
				c.role, CPUList(c.set), 100*busy, c.used())
		}
	}
	return ""
}

// byOthers says that the trial's own processes used the smaller part of a full
// host's time; "" when they used most of it.
func byOthers(host record.Span, groups []workerGroup) string {
	t, _ := timeOf(host, nil)
	_, _, length, _ := host.Metered()
	own, used := 0.0, (t.all-t.idle-t.steal)/1e9/length
	for _, c := range groups {
		if record.SameHost(c.spans[0].To.Meter, host.To.Meter) {
			own += c.used()
		}
	}
	if 2*own >= used {
		return ""
	}
	return fmt.Sprintf(", but the trial's own processes used only %.3g of the %.3g: something else ran there", own, used)
}

// noResource speaks of a trial in which nothing was used up.
func noResource(e *audit, groups []workerGroup) (Limit, string) {
	share, offered := e.values["offered_share"]
	if flag, _ := overloaded(e); offered && flag == "" {
		return Schedule, fmt.Sprintf("the open loop reached %.3g %% of its rate", 100*share)
	}
	metered, top := 0, 0.0
	for _, c := range groups {
		metered += len(c.spans)
		busy, _, _ := busiest(c)
		top = max(top, busy)
	}
	workers := fmt.Sprintf("the busiest thread had %.0f %%", 100*top)
	switch {
	case e.away() != "":
		return Unknown, "the server at " + e.away() + " was not metered; " + workers
	case e.elsewhere():
		return Unknown, "the server runs elsewhere, where nobody metered it; " + workers
	case metered < len(e.window.Record.Workers) || metered == 0:
		return Unknown, "a worker's meter readings are missing"
	case e.open:
		return Unknown, fmt.Sprintf("the open loop reached %.3g %% of its rate, yet no CPU was full; %s", 100*share, workers)
	}
	if busy, ok := e.inFlight(); ok {
		workers = fmt.Sprintf("%.4g of %.4g slots waited; %s", busy, e.slots, workers)
	}
	return Latency, "closed loop, no CPU was full: " + workers
}

func CPUList(set []int) string {
	text := make([]string, len(set))
	for i, cpu := range set {
		text[i] = fmt.Sprint(cpu)
	}
	return strings.Join(text, ",")
}
