package trial

import "fmt"

// StolenCPU says that the hypervisor gave the CPUs to somebody else.
const StolenCPU = "stolen-cpu"

// stealShare is the share of the host's CPU time that may be stolen.
const stealShare = 0.01

var flagStolenCPU = Flag{
	Name:    StolenCPU,
	Warning: "lost more than 1 % of the host's CPU time to the hypervisor",
	Advice:  "use a quiet or dedicated machine",
	raise: func(e *audit) string {
		share := e.values["host.steal_share"]
		if share <= stealShare {
			return ""
		}
		return fmt.Sprintf("%.2g %% of the host's CPU time was stolen", 100*share)
	},
}
