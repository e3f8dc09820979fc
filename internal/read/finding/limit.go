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

// crowd is the workers of one role that share a host and a CPU set.
type crowd struct {
	role  contract.Role // a pair counts as client: it is the generator
	set   []int
	spans []record.Span
}

// limits are in the order in which they are tried, the earlier one named when
// two are as frequent (METHOD §5).
var limits = []Limit{
	Link, ServerCore, ClientCore, ServerCPU, ClientCPU, HostCPU, ReceiveWindow, SendBuffer, FlowControl, Schedule, Latency, Unknown,
}

// limit names what bounded the trial, the end whose it was, if it was one
// end's, and its proof. Whether it was the link, limitByLink says.
func (e *exam) limit() (limit Limit, of contract.Role, proof string) {
	crowds := e.crowds()
	for _, step := range []struct {
		limits map[contract.Role]Limit
		of     func(crowd) string
	}{
		{map[contract.Role]Limit{contract.Server: ServerCore, contract.Client: ClientCore}, busyThread},
		{map[contract.Role]Limit{contract.Server: ServerCPU, contract.Client: ClientCPU}, func(c crowd) string { return fullSet(c, crowds) }},
	} {
		for _, role := range []contract.Role{contract.Server, contract.Client} {
			for _, c := range crowds {
				if c.role != role {
					continue
				}
				if proof := step.of(c); proof != "" {
					return step.limits[role], role, proof
				}
			}
		}
	}
	if proof := e.fullHost(crowds); proof != "" {
		return HostCPU, "", proof
	}
	if limit, of, proof := e.restrained(); proof != "" {
		return limit, of, proof
	}
	if of, proof := e.flowControlled(); proof != "" {
		return FlowControl, of, proof
	}
	limit, proof = e.noResource(crowds)
	return limit, "", proof
}

func (e *exam) crowds() []crowd {
	var crowds []crowd
	workers := e.window.Record.Workers
next:
	for i := range workers {
		span, ok := e.window.Span(&workers[i])
		if !ok || workers[i].Elsewhere() {
			continue
		}
		_, to, _, ok := span.Metered()
		if !ok {
			continue
		}
		role := workers[i].Role
		if role != contract.Server {
			role = contract.Client
		}
		set := to.CPUSet
		if len(set) == 0 {
			set = workers[i].CPUSet
		}
		for j := range crowds {
			c := &crowds[j]
			if c.role == role && slices.Equal(c.set, set) && record.SameHost(c.spans[0].To.Meter, to) {
				c.spans = append(c.spans, span)
				continue next
			}
		}
		crowds = append(crowds, crowd{role, set, []record.Span{span}})
	}
	return crowds
}

// busyThread proves that one thread had no time left.
func busyThread(c crowd) string {
	share, thread, worker := busiest(c)
	if share < coreBusy {
		return ""
	}
	return fmt.Sprintf("%s thread %d (%s) busy %.1f %% of the window", worker, thread.ID, thread.Name, 100*min(share, 1))
}

// busiest returns the busiest thread and its share of the window. A thread
// absent from the opening reading began later, unless that reading was full.
func busiest(c crowd) (share float64, thread contract.Thread, worker string) {
	const most = 1.1 // more is a garbled count or a reused thread number
	for _, s := range c.spans {
		from, to, length, _ := s.Metered()
		before := map[int]int64{}
		for _, t := range from.Threads {
			before[t.ID] = t.CPUNs
		}
		for _, t := range to.Threads {
			used, known := before[t.ID]
			if !known && len(from.Threads) >= contract.MaxThreads {
				continue
			}
			if x := (float64(t.CPUNs) - float64(used)) / 1e9 / length; x > share && x < most {
				share, thread, worker = x, t, s.Worker.Name
			}
		}
	}
	return share, thread, worker
}

// fullSet proves that a CPU set of the crowd's own had no time left: by the
// processes' CPU time, or by the CPUs' own idle time, because interrupt work
// on those CPUs belongs to no process.
func fullSet(c crowd, all []crowd) string {
	if len(c.set) == 0 {
		return ""
	}
	used := c.used()
	if size := float64(len(c.set)); used >= setBusy*size {
		return fmt.Sprintf("%s used %.3g of its %d CPUs (%.1f %%)", c.role, used, len(c.set), 100*used/size)
	}
	interrupts := interruptCores(c.spans[0], c.set)
	if busy, ok := busyShare(c.spans[0], c.set); ok && busy >= coreBusy && !c.shares(all) && used+interrupts >= setBusy*float64(len(c.set)) {
		return fmt.Sprintf("the %s's own CPUs %s were %.1f %% busy, interrupts included", c.role, words(c.set), 100*busy)
	}
	return ""
}

// used sums the CPU time of a crowd's processes, in cores.
func (c crowd) used() float64 {
	used := 0.0
	for _, s := range c.spans {
		if x, ok := s.Cores(); ok {
			used += x
		}
	}
	return used
}

// shares tells whether another role's workers may run on the same CPUs.
func (c crowd) shares(all []crowd) bool {
	for _, other := range all {
		if other.role == c.role || !record.SameHost(c.spans[0].To.Meter, other.spans[0].To.Meter) {
			continue
		}
		if len(other.set) == 0 {
			return true
		}
		for _, cpu := range other.set {
			if slices.Contains(c.set, cpu) {
				return true
			}
		}
	}
	return false
}

// busyShare returns the share of a set's CPU time that was not idle; of all
// CPUs when the set is empty.
func busyShare(s record.Span, set []int) (float64, bool) {
	from, to, _, _ := s.Metered()
	if len(from.CPUs) != len(to.CPUs) {
		return 0, false
	}
	idle, all := 0.0, 0.0
	for i, a := range from.CPUs {
		b := to.CPUs[i]
		if len(set) > 0 && !slices.Contains(set, b.ID) {
			continue
		}
		rest := float64(b.IdleNs) - float64(a.IdleNs) + float64(b.IOWaitNs) - float64(a.IOWaitNs)
		idle += rest
		all += rest + float64(b.UserNs) - float64(a.UserNs) + float64(b.NiceNs) - float64(a.NiceNs) +
			float64(b.SystemNs) - float64(a.SystemNs) + float64(b.IRQNs) - float64(a.IRQNs) +
			float64(b.SoftIRQNs) - float64(a.SoftIRQNs) + float64(b.StealNs) - float64(a.StealNs)
	}
	return 1 - idle/all, all > 0 && idle >= 0
}

// interruptCores returns the interrupt work on a set's CPUs, in cores.
func interruptCores(s record.Span, set []int) float64 {
	from, to, length, _ := s.Metered()
	ns := 0.0
	for i, a := range from.CPUs {
		if i < len(to.CPUs) && slices.Contains(set, a.ID) {
			b := to.CPUs[i]
			ns += float64(b.IRQNs) - float64(a.IRQNs) + float64(b.SoftIRQNs) - float64(a.SoftIRQNs)
		}
	}
	return ns / 1e9 / length
}

// fullHost proves that a whole host, or the CPUs that both ends share on it,
// had no idle time.
func (e *exam) fullHost(crowds []crowd) string {
	for _, h := range e.window.Hosts() {
		if busy, ok := busyShare(h, nil); ok && busy > 1-hostIdle {
			return fmt.Sprintf("all %d CPUs of %s were %.1f %% busy", len(h.To.Meter.CPUs), h.Worker.Seat, 100*busy)
		}
	}
	for _, c := range crowds {
		busy, ok := busyShare(c.spans[0], c.set)
		switch {
		case !ok || busy < coreBusy || len(c.set) == 0:
		case c.shares(crowds):
			return fmt.Sprintf("server and client share the CPUs %s, which were %.1f %% busy", words(c.set), 100*busy)
		default:
			return fmt.Sprintf("the %s's CPUs %s were %.1f %% busy, but it used only %.3g of them: something else ran there",
				c.role, words(c.set), 100*busy, c.used())
		}
	}
	return ""
}

// noResource speaks of a trial in which nothing was used up.
func (e *exam) noResource(crowds []crowd) (Limit, string) {
	share, offered := e.values["offered_share"]
	if flag, _ := e.overloaded(); offered && flag == "" {
		return Schedule, fmt.Sprintf("the open loop reached %.3g %% of its rate", 100*share)
	}
	metered, top := 0, 0.0
	for _, c := range crowds {
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
func (e *exam) elsewhere() bool {
	return slices.ContainsFunc(e.window.Record.Workers, func(w record.Worker) bool { return w.Elsewhere() })
}

func words(set []int) string {
	text := make([]string, len(set))
	for i, cpu := range set {
		text[i] = fmt.Sprint(cpu)
	}
	return strings.Join(text, ",")
}
