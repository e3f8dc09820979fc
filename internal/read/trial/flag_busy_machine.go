package trial

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// BusyMachine says that the trial did not have the machine's CPUs to itself: the
// hypervisor gave them to somebody else, or the kernel to other processes. Warnings of
// before the run have the same name.
const BusyMachine = "busy-machine"

// StealShare is the share of the host's CPU time that may be stolen.
const StealShare = 0.01

var flagBusyMachine = Flag{
	Name:    BusyMachine,
	Changes: "rates may be too low, times too long and intervals wide",
	Warning: "lost more than 1 % of the host's CPU time to the hypervisor, or 10 % of their CPUs' to other processes",
	Advice:  "stop the programs that top shows; on a virtual machine measure at a quieter hour, or on a dedicated one",
	raise: func(e *audit) string {
		var lost []string
		if share := e.values[metric.HostSteal]; share > StealShare {
			lost = append(lost, fmt.Sprintf("%.2g %% of the host's CPU time was stolen", 100*share))
		}
		if e.others > 0 {
			lost = append(lost, fmt.Sprintf("other processes used %.2g %% of the CPUs", 100*e.others))
		}
		return strings.Join(lost, "; ")
	},
}

// BusyBefore takes from a run's warnings the texts that say the machine was busy before
// the run. Earlier versions had a word for each of the two causes.
func BusyBefore(warnings []record.Warning) (busy []string, others []record.Warning) {
	for _, w := range warnings {
		if slices.Contains([]string{BusyMachine, "load", "steal"}, w.About) {
			busy = append(busy, w.Text)
		} else {
			others = append(others, w)
		}
	}
	return busy, others
}
