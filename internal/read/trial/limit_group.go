package trial

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// CgroupThrottle and MemoryLimit: what the control group of an end may use was used up.
const (
	CgroupThrottle Limit = "cgroup-throttle"
	MemoryLimit    Limit = "memory-limit"
)

const (
	// throttledOften is the share of the periods in which a quota was used up, from which
	// it is the limit (specification §5).
	throttledOften = 0.5
	// memoryStood is the share of the window for which something of a group stood still
	// for lack of memory, from which its limit of memory is the trial's (specification §5).
	memoryStood = 0.1
)

var (
	limitThrottle = limitRule{CgroupThrottle, ofSpans(throttledSpan), meanThrottle}
	limitMemory   = limitRule{MemoryLimit, ofSpans(shortOfMemory), meanMemoryLimit}
)

// ofSpans tries a proof on every worker, servers first: of a server whose processes come
// and go the group is known, too.
func ofSpans(prove func(record.Span, contract.Role) string) func(*audit) (contract.Role, string) {
	return func(e *audit) (contract.Role, string) {
		for _, role := range []contract.Role{contract.Server, contract.Hop, contract.Client} {
			for w := range e.workers() {
				s, ok := e.window.Span(w)
				if !ok || w.Role.End() != role {
					continue
				}
				if proof := prove(s, role); proof != "" {
					return role, proof
				}
			}
		}
		return "", ""
	}
}

// throttledSpan proves that a worker's control group used up its quota in most periods.
func throttledSpan(s record.Span, role contract.Role) string {
	share, ok := s.Throttled()
	if !ok || share < throttledOften {
		return ""
	}
	held, length := s.HeldBack()
	from, to, _ := s.Groups()
	q := to.Quota
	used := record.Growth(from.CPUNs, to.CPUNs) / 1e9 / length
	if to.CPUNs == 0 { // version 1 may account for it elsewhere
		return fmt.Sprintf("the %s's control group may use %.3g CPUs: it was throttled in %s of its periods of %.4g ms, and CPUs were held back for %.3g s of the window's %.3g s",
			role, q.CPUs(), quantity.FormatShare(share), float64(q.PeriodNs)/1e6, held, length)
	}
	return fmt.Sprintf("the %s's control group used %.3g of the %.3g CPUs that it may use: it was throttled in %s of its periods of %.4g ms, and CPUs were held back for %.3g s of the window's %.3g s",
		role, used, q.CPUs(), quantity.FormatShare(share), float64(q.PeriodNs)/1e6, held, length)
}

// shortOfMemory proves that a worker's control group met its limit of memory in the
// window, and stood still for it. Version 1 of control groups does not tell for how long,
// so nothing is proven by it.
func shortOfMemory(s record.Span, role contract.Role) string {
	_, _, length, _ := s.Metered()
	from, to, ok := s.Groups()
	if !ok || from.MemoryLimit == nil || to.MemoryLimit == nil {
		return ""
	}
	before, l := from.MemoryLimit, to.MemoryLimit
	met := record.Growth(before.Met, l.Met)
	stood := record.Growth(from.Pressure["memory"], to.Pressure["memory"]) / 1e9 / length
	if before.Bytes != l.Bytes || met <= 0 || stood < memoryStood {
		return ""
	}
	return fmt.Sprintf("the %s's control group may use %s of memory and used %s: it met that limit %.0f times in the window, and something in it waited for memory for %s of the window",
		role, quantity.FormatBytes(float64(l.Bytes)), quantity.FormatBytes(float64(l.UsedBytes)), met, quantity.FormatShare(min(stood, 1)))
}

// What their names stand for in netdyno explain.
var (
	meanThrottle    = Meaning{Called: "the quota of a control group", Means: "the control group (a container) of the server, a client or a hop had used up its quota of CPU time in at least half of its periods, and stood still for the rest of them", Cure: "raise the quota (a CPU limit in Kubernetes, --cpus of a container), or compare what an exchange costs"}
	meanMemoryLimit = Meaning{Called: "the memory of a control group", Means: "the control group (a container) of the server, a client or a hop met its limit of memory, and waited for memory for at least 10 % of the window", Cure: "raise the limit, or give it less to hold: fewer connections, smaller buffers"}
)
