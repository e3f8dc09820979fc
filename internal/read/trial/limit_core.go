package trial

import (
	"fmt"

	"netdyno/internal/contract"
)

// ServerCore and ClientCore: one thread of that end had no CPU time left.
const (
	ServerCore Limit = "server-core"
	ClientCore Limit = "client-core"
)

// coreBusy is the share of a thread's time, or of a CPU set's time that was not
// idle, from which it counts as full (specification §5).
const coreBusy = 0.95

var (
	limitServerCore = limitRule{ServerCore, ofGroups(contract.Server, busyThread), meanServerCore}
	limitClientCore = limitRule{ClientCore, ofGroups(contract.Client, busyThread), meanClientCore}
)

// ofGroups tries a proof on every worker group of a role.
func ofGroups(role contract.Role, prove func(e *audit, c workerGroup) string) func(*audit) (contract.Role, string) {
	return func(e *audit) (contract.Role, string) {
		for _, c := range e.groups {
			if c.role != role {
				continue
			}
			if proof := prove(e, c); proof != "" {
				return role, proof
			}
		}
		return "", ""
	}
}

// busyThread proves that one thread had no time left. What the hypervisor took
// while it wanted to run counts as its own.
func busyThread(_ *audit, c workerGroup) string {
	if c.polls() {
		return ""
	}
	share, thread, worker := busiest(c)
	proof := fmt.Sprintf("thread %d (%s) of %s was busy %.1f %% of the window", thread.ID, thread.Name, worker, 100*min(share, 1))
	if all, alone := oneAtATime(c); all > share {
		share, proof = all, fmt.Sprintf("%s runs one thread at a time, and they were busy %.1f %% of the window", alone, 100*min(all, 1))
	}
	whole := share * c.withoutSteal()
	if whole < coreBusy {
		return ""
	}
	if share < coreBusy {
		proof += wanted(whole)
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

// What their names stand for in netdyno explain.
var (
	meanServerCore = Meaning{Called: "one core of the server", Means: "one thread of the server was busy for at least 95 % of the window", Cure: "give the server more threads, or connections that its threads share evenly"}
	meanClientCore = Meaning{Called: "one core of the clients", Means: "one thread of the client was busy for at least 95 % of the window: the rate measures the load generator", Cure: "give the client more threads or processes (clients=2), or offer an equal rate to every arm"}
)
