package trial

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// workerGroup is the workers of one role that share a host and a CPU set.
type workerGroup struct {
	role  contract.Role // a pair counts as client: it is the generator
	set   []int
	spans []record.Span
}

// workerGroups returns the groups of all metered workers.
func (e *audit) workerGroups() []workerGroup {
	var groups []workerGroup
	for w := range e.workers() {
		span, ok := e.window.Span(w)
		if !ok || w.Elsewhere() {
			continue
		}
		_, to, _, ok := span.Metered()
		if !ok {
			continue
		}
		role := w.Role.End()
		set := to.CPUSet
		if len(set) < len(w.CPUSet) { // it was read on one of the sets between which it changes
			set = w.CPUSet
		}
		at := slices.IndexFunc(groups, func(c workerGroup) bool {
			return c.role == role && slices.Equal(c.set, set) && record.SameHost(c.spans[0].To.Meter, to)
		})
		if at < 0 {
			at, groups = len(groups), append(groups, workerGroup{role: role, set: set})
		}
		groups[at].spans = append(groups[at].spans, span)
	}
	return groups
}

// busyThreads is how many threads as busy as the busiest of the servers would have used their
// CPU time: among so many the kernel divides CPUs that others use too. 0 where it is not known.
func (e *audit) busyThreads() float64 {
	spans, _ := e.window.Spans(contract.Server)
	most, all := 0.0, 0.0
	for _, s := range spans {
		if _, _, _, metered := s.Metered(); !metered {
			return 0
		}
		for before, after := range grownThreads(s) {
			used := record.Growth(before.CPUNs, after.CPUNs)
			most, all = max(most, used), all+used
		}
	}
	if most == 0 {
		return 0
	}
	return all / most
}

// grownThreads returns a worker's threads at the closing edge, each with its reading at
// the opening edge. A thread that is absent there began later and has 0, unless the
// opening reading was full: then nothing is known of the thread, which is left out.
func grownThreads(s record.Span) iter.Seq2[contract.Thread, contract.Thread] {
	return func(yield func(before, after contract.Thread) bool) {
		from, to, _, _ := s.Metered()
		opening := map[int]contract.Thread{}
		for _, t := range from.Threads {
			opening[t.ID] = t
		}
		for _, t := range to.Threads {
			before, known := opening[t.ID]
			if (known || len(from.Threads) < contract.MaxThreads) && !yield(before, t) {
				return
			}
		}
	}
}

// busiest returns the busiest thread and its share of the window.
func busiest(c workerGroup) (share float64, thread contract.Thread, worker string) {
	const most = 1.1 // more is a garbled count or a reused thread number
	for _, s := range c.spans {
		_, _, length, _ := s.Metered()
		for before, t := range grownThreads(s) {
			if x := (float64(t.CPUNs) - float64(before.CPUNs)) / 1e9 / length; x > share && x < most {
				share, thread, worker = x, t, s.Worker.Name
			}
		}
	}
	return share, thread, worker
}

// used sums the CPU time of a group's processes, in cores.
func (c workerGroup) used() float64 {
	used := 0.0
	for _, s := range c.spans {
		if x, ok := s.Cores(); ok {
			used += x
		}
	}
	return used
}

// polls tells whether a worker of the group is busy when there is nothing to do, so
// that how busy it is says nothing.
func (c workerGroup) polls() bool {
	return slices.ContainsFunc(c.spans, func(s record.Span) bool { return s.Worker.Polls() })
}

// pollsAt tells whether a worker on a host polls.
func (e *audit) pollsAt(host record.Span) bool {
	return slices.ContainsFunc(e.groups, func(c workerGroup) bool {
		return c.polls() && record.SameHost(c.spans[0].To.Meter, host.To.Meter)
	})
}

// shares tells whether another role's workers may run on the same CPUs.
func (c workerGroup) shares(all []workerGroup) bool {
	for _, other := range all {
		if other.role == c.role || !record.SameHost(c.spans[0].To.Meter, other.spans[0].To.Meter) {
			continue
		}
		if len(other.set) == 0 || slices.ContainsFunc(other.set, func(cpu int) bool { return slices.Contains(c.set, cpu) }) {
			return true
		}
	}
	return false
}

// withoutSteal is what CPU time on a group's CPUs has to be multiplied by to
// be what it would have been had the hypervisor taken nothing: 1 where it took
// nothing or nothing is known. A CPU is stolen from while something wants to run on
// it, so what was taken is shared out by the time that was used; where more was
// taken than used, its use is unknown.
//
// Source: proc(5), the steal column of /proc/stat.
func (c workerGroup) withoutSteal() float64 {
	t, ok := timeOf(c.spans[0], c.set)
	if used := t.all - t.idle - t.steal; ok && t.steal > 0 && t.steal <= used {
		return (used + t.steal) / used
	}
	return 1
}

// wanted is what a proof adds where a limit is reached only with the CPU time
// that the hypervisor took counted as the workers' own.
func wanted(share float64) string {
	return fmt.Sprintf("; %.1f %% with the CPU time that the hypervisor took", 100*min(share, 1))
}

// CPUList writes a CPU set as "0,1"; "" for an empty one.
func CPUList(set []int) string {
	text := make([]string, len(set))
	for i, cpu := range set {
		text[i] = fmt.Sprint(cpu)
	}
	return strings.Join(text, ",")
}

// waitedForCPU returns the share of the exchanges' time for which they waited, at
// the ends on a host, until a thread that could run was given a CPU; false where the
// kernel did not tell. At each end an exchange passes one thread, and waits as
// threads do that have as much of the work; where an end has more of them than
// slots, an exchange passes several, one after the other.
func (e *audit) waitedForCPU(host record.Span) (share float64, known bool) {
	longest := map[contract.Role]float64{}
	for _, c := range e.groups {
		if !record.SameHost(c.spans[0].To.Meter, host.To.Meter) {
			continue
		}
		waited, threads, told := c.waited()
		if !told {
			return 0, false
		}
		longest[c.role], known = max(longest[c.role], waited*max(threads/max(e.slots, 1), 1)), true
	}
	return min(longest[contract.Server]+longest[contract.Client], 1), known
}

// waited returns the share of the window for which a group's threads could run and
// waited for a CPU, each thread weighed by the CPU time that it used, so that those
// that only look after others count little; and how many threads shared the work, as
// many as would have had all of it evenly (inverse of: E. H. Simpson, Measurement of
// Diversity, Nature 163, 1949). False where the kernel did not tell.
func (c workerGroup) waited() (share, threads float64, told bool) {
	used, waits, squares := 0.0, 0.0, 0.0
	for _, s := range c.spans {
		_, _, length, _ := s.Metered()
		for then, t := range grownThreads(s) {
			told = told || t.WaitNs > 0
			cpu := max(record.Growth(then.CPUNs, t.CPUNs), 0) / 1e9 / length
			used += cpu
			squares += cpu * cpu
			waits += cpu * min(max(record.Growth(then.WaitNs, t.WaitNs), 0)/1e9/length, 1)
		}
	}
	if used == 0 {
		return 0, 0, told
	}
	return waits / used, used * used / squares, told
}

// busyShare returns the share of a set's CPU time that was not idle; of all
// CPUs when the set is empty.
func busyShare(s record.Span, set []int) (float64, bool) {
	t, ok := timeOf(s, set)
	return 1 - t.idle/t.all, ok
}

// cpuTime is what passed on some CPUs, in ns; steal and idle are parts of all.
type cpuTime struct{ all, idle, steal float64 }

// timeOf sums a span over a set of CPUs, over all of them when it is empty;
// false where the host's account is missing or ran backwards.
func timeOf(s record.Span, set []int) (cpuTime, bool) {
	from, to, _, _ := s.Metered()
	if len(from.CPUs) != len(to.CPUs) {
		return cpuTime{}, false
	}
	var t cpuTime
	for i, a := range from.CPUs {
		b := to.CPUs[i]
		if len(set) > 0 && !slices.Contains(set, b.ID) {
			continue
		}
		rest := float64(b.IdleNs) - float64(a.IdleNs) + float64(b.IOWaitNs) - float64(a.IOWaitNs)
		steal := float64(b.StealNs) - float64(a.StealNs)
		t.idle += rest
		t.steal += steal
		t.all += rest + steal + float64(b.UserNs) - float64(a.UserNs) + float64(b.NiceNs) - float64(a.NiceNs) +
			float64(b.SystemNs) - float64(a.SystemNs) + float64(b.IRQNs) - float64(a.IRQNs) +
			float64(b.SoftIRQNs) - float64(a.SoftIRQNs)
	}
	return t, t.all > 0 && t.idle >= 0
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
