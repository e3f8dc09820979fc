package trial

import (
	"slices"

	"netdyno/internal/record"
)

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
