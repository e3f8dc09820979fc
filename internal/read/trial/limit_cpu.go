package trial

import (
	"fmt"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// workerGroup is the workers of one role that share a host and a CPU set.
type workerGroup struct {
	role  contract.Role // a pair counts as client: it is the generator
	set   []int
	spans []record.Span
}

func workerGroups(e *audit) []workerGroup {
	var groups []workerGroup
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

// busyThread proves that one thread had no time left of what there was: what
// the hypervisor took while it wanted to run counts as its own.
func busyThread(c workerGroup) string {
	share, thread, worker := busiest(c)
	proof := fmt.Sprintf("%s thread %d (%s) busy %.1f %% of the window", worker, thread.ID, thread.Name, 100*min(share, 1))
	if all, alone := oneAtATime(c); all > share {
		share, proof = all, fmt.Sprintf("%s runs one thread at a time, and they were busy %.1f %% of the window", alone, 100*min(all, 1))
	}
	wanted := share * c.withoutSteal()
	if wanted < coreBusy {
		return ""
	}
	if share < coreBusy {
		proof += fmt.Sprintf(", %.1f %% with its part of what the hypervisor took", 100*min(wanted, 1))
	}
	return proof
}

// oneAtATime returns the share of the window in which the threads of a managed
// runtime ran that was given one to compute with, and the worker's name: it moves
// its work between the kernel's threads, of which then none is busy throughout.
// 0 where there is no such worker. Source: package runtime of Go, GOMAXPROCS.
func oneAtATime(c workerGroup) (share float64, worker string) {
	for _, s := range c.spans {
		if ready := s.Worker.Ready; ready == nil || ready.Threads != 1 || s.To.Reading.Runtime == nil {
			continue
		}
		if x, ok := s.Cores(); ok && x > share {
			share, worker = x, s.Worker.Name
		}
	}
	return share, worker
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

// fullSet proves that a CPU set of the group's own had no time left: by the
// processes' CPU time, or by the CPUs' own idle time, because interrupt work
// on those CPUs belongs to no process.
func fullSet(c workerGroup, all []workerGroup) string {
	if len(c.set) == 0 {
		return ""
	}
	size, whole := float64(len(c.set)), c.withoutSteal()
	used := c.used()
	if wanted := used * whole; wanted >= setBusy*size {
		proof := fmt.Sprintf("%s used %.3g of its %d CPUs (%.1f %%)", c.role, used, len(c.set), 100*used/size)
		if used < setBusy*size {
			proof += fmt.Sprintf(", %.1f %% with its part of what the hypervisor took", 100*min(wanted/size, 1))
		}
		return proof
	}
	interrupts := interruptCores(c.spans[0], c.set)
	if busy, ok := busyShare(c.spans[0], c.set); ok && busy >= coreBusy && !c.shares(all) && (used+interrupts)*whole >= setBusy*size {
		return fmt.Sprintf("the %s's own CPUs %s were %.1f %% busy, interrupts included", c.role, CPUList(c.set), 100*busy)
	}
	return ""
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
// nothing or nobody knows. A CPU is stolen from while something wants to run on
// it, so what was taken is shared out by the time that was used; where more was
// taken than used, nobody knows what would have become of it.
//
// Source: proc(5), the steal column of /proc/stat.
func (c workerGroup) withoutSteal() float64 {
	t, ok := timeOf(c.spans[0], c.set)
	if used := t.all - t.idle - t.steal; ok && t.steal > 0 && t.steal <= used {
		return (used + t.steal) / used
	}
	return 1
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
