package trial

import (
	"fmt"

	"netdyno/internal/contract"
)

// ServerCPU and ClientCPU: the CPUs that one end has to itself were full.
const (
	ServerCPU Limit = "server-cpu"
	ClientCPU Limit = "client-cpu"
)

// setBusy is the share of a CPU set, by the workers' own CPU time, from which it
// counts as full (specification §5).
const setBusy = 0.90

var (
	limitServerCPU = limitRule{ServerCPU, ofGroups(contract.Server, fullSet), meanServerCPU}
	limitClientCPU = limitRule{ClientCPU, ofGroups(contract.Client, fullSet), meanClientCPU}
)

// fullSet proves that a CPU set of the group's own had no time left: by the
// processes' CPU time, or by the CPUs' own idle time, because interrupt work
// on those CPUs belongs to no process.
func fullSet(e *audit, c workerGroup) string {
	if len(c.set) == 0 || c.polls() {
		return ""
	}
	size, whole := float64(len(c.set)), c.withoutSteal()
	used := c.used()
	if used*whole >= setBusy*size {
		proof := fmt.Sprintf("the %s used %.3g of its %d CPUs (%.1f %%)", c.role, used, len(c.set), 100*used/size)
		if used < setBusy*size {
			proof += wanted(used * whole / size)
		}
		return proof
	}
	interrupts := interruptCores(c.spans[0], c.set)
	if busy, ok := busyShare(c.spans[0], c.set); ok && busy >= coreBusy && !c.shares(e.groups) && (used+interrupts)*whole >= setBusy*size {
		return fmt.Sprintf("the %s's own CPUs %s were %.1f %% busy, interrupts included", c.role, CPUList(c.set), 100*busy)
	}
	return ""
}

// What their names stand for in netdyno explain.
var (
	meanServerCPU = Meaning{Called: "the server's CPUs", Means: "the server used at least 90 % of its CPUs", Cure: "give the server more CPUs, or read how much CPU an exchange costs"}
	meanClientCPU = Meaning{Called: "the clients' CPUs", Means: "the client used at least 90 % of its CPUs: the rate measures the load generator", Cure: "give the clients more CPUs or hosts, or offer an equal rate to every arm and compare the cost of an exchange"}
)

// OfCPU tells whether the limit is computing time that one end, or the host, ran out
// of.
func (l Limit) OfCPU() bool {
	return l == ServerCore || l == ClientCore || l == ServerCPU || l == ClientCPU || l == HopCPU || l == HostCPU || l == CgroupThrottle
}
