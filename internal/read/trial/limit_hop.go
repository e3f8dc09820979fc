package trial

import (
	"fmt"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// HopCPU is the limit where a hop between the ends had no CPU time left.
const HopCPU Limit = "hop-cpu"

var limitHopCPU = limitRule{HopCPU, ofGroups(contract.Hop, fullHop), meanHopCPU}

// fullHop proves that a thread of a hop had no time left, or the CPUs on which it runs,
// which may be those of the end beside it.
func fullHop(e *audit, c workerGroup) string {
	if proof := busyThread(e, c); proof != "" {
		return proof
	}
	if proof := fullSet(e, c); proof != "" || len(c.set) == 0 {
		return proof
	}
	used, beside := 0.0, ""
	for _, g := range e.groups {
		if g.polls() || !slices.Equal(g.set, c.set) || !record.SameHost(g.spans[0].To.Meter, c.spans[0].To.Meter) {
			continue
		}
		used += g.used()
		if g.role != contract.Hop {
			beside = fmt.Sprintf(" and the %s", g.role)
		}
	}
	if size := float64(len(c.set)); used*c.withoutSteal() >= setBusy*size {
		return fmt.Sprintf("the hop%s used %.3g of their %d CPUs (%.1f %%)", beside, used, len(c.set), 100*used/size)
	}
	return ""
}

var meanHopCPU = Meaning{Called: "a hop's CPUs", Means: "a hop between client and server used at least 95 % of a thread, or 90 % of its CPUs were used", Cure: "give the hop CPUs of its own or more of them, or offer every path one rate and compare CPU per exchange"}
