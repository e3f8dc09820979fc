package trial

import (
	"fmt"
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
func workerGroups(w *record.Window) []workerGroup {
	var groups []workerGroup
	workers := w.Record.Workers
next:
	for i := range workers {
		span, ok := w.Span(&workers[i])
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
		for j := range groups {
			c := &groups[j]
			if c.role == role && slices.Equal(c.set, set) && record.SameHost(c.spans[0].To.Meter, to) {
				c.spans = append(c.spans, span)
				continue next
			}
		}
		groups = append(groups, workerGroup{role, set, []record.Span{span}})
	}
	return groups
}

// busiest returns the busiest thread and its share of the window. A thread
// absent from the opening reading began later, unless that reading was full.
func busiest(c workerGroup) (share float64, thread contract.Thread, worker string) {
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
