package finding

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Shares from which a resource counts as the limit (METHOD §5).
const (
	coreBusy = 0.95 // of one thread, or of a CPU set's time that was not idle
	setBusy  = 0.90 // of a CPU set, by the tree's own CPU time
	hostIdle = 0.05
)

// limits are in the order in which they are tried, the earlier one named when
// two are as frequent (METHOD §5).
var limits = []Limit{
	Link, ServerCore, ClientCore, ServerCPU, ClientCPU, HostCPU, ReceiveWindow, SendBuffer, FlowControl, Schedule, Latency, Unknown,
}

// limit names what bounded the trial, the end whose it was, if it was one
// end's, and its proof. Whether it was the link, limitByLink says.
func (e *trialAudit) limit() (limit Limit, of contract.Role, proof string) {
	groups := e.workerGroups()
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
	if proof := e.fullHost(groups); proof != "" {
		return HostCPU, "", proof
	}
	if limit, of, proof := e.restrained(); proof != "" {
		return limit, of, proof
	}
	if of, proof := e.flowControlled(); proof != "" {
		return FlowControl, of, proof
	}
	limit, proof = e.noResource(groups)
	return limit, "", proof
}

// fullHost proves that a whole host, or the CPUs that both ends share on it,
// had no idle time.
func (e *trialAudit) fullHost(groups []workerGroup) string {
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
			return fmt.Sprintf("server and client share the CPUs %s, which were %.1f %% busy", words(c.set), 100*busy)
		default:
			return fmt.Sprintf("the %s's CPUs %s were %.1f %% busy, but it used only %.3g of them: something else ran there",
				c.role, words(c.set), 100*busy, c.used())
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
func (e *trialAudit) noResource(groups []workerGroup) (Limit, string) {
	share, offered := e.values["offered_share"]
	if flag, _ := e.overloaded(); offered && flag == "" {
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

// elsewhere tells whether a server is no process of the trial's.
func (e *trialAudit) elsewhere() bool {
	return slices.ContainsFunc(e.window.Record.Workers, func(w record.Worker) bool { return w.Elsewhere() })
}

func words(set []int) string {
	text := make([]string, len(set))
	for i, cpu := range set {
		text[i] = fmt.Sprint(cpu)
	}
	return strings.Join(text, ",")
}
