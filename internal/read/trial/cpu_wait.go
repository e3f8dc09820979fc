package trial

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

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
		from, to, length, _ := s.Metered()
		before := map[int]contract.Thread{}
		for _, t := range from.Threads {
			before[t.ID] = t
		}
		for _, t := range to.Threads {
			then, met := before[t.ID]
			if !met && len(from.Threads) >= contract.MaxThreads {
				continue
			}
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
