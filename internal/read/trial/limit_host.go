package trial

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// HostCPU says that a whole host, or CPUs that others use as well, had no idle time.
const HostCPU Limit = "host-cpu"

// hostIdle is the share of a host's CPU time below which it counts as full
// (specification §5).
const hostIdle = 0.05

var limitHostCPU = limitRule{HostCPU, func(e *audit) (contract.Role, string) { return "", fullHost(e) }, meanHostCPU}

func fullHost(e *audit) (proof string) {
	for _, h := range e.window.Hosts() {
		if e.pollsAt(h) {
			continue
		}
		if busy, ok := busyShare(h, nil); ok && busy > 1-hostIdle {
			return fmt.Sprintf("all %d CPUs of %s were %.1f %% busy%s", len(h.To.Meter.CPUs), h.Worker.Seat, 100*busy, byOthers(e, h))
		}
	}
	for _, c := range e.groups {
		busy, ok := busyShare(c.spans[0], c.set)
		switch {
		case !ok || busy < coreBusy || len(c.set) == 0 || c.polls():
		case c.shares(e.groups):
			return fmt.Sprintf("server and client share %s %.1f %% busy", cpus(c.set, ", which was", ", which were"), 100*busy)
		default:
			return fmt.Sprintf("%s %.1f %% busy; the %s used %s of that CPU time, other processes the rest",
				cpus(c.set, " was", " were"), 100*busy, c.role, quantity.FormatShare(min(c.used()/float64(len(c.set))/busy, 1)))
		}
	}
	return ""
}

// byOthers says that the trial's own processes used the smaller part of a full
// host's CPU time; "" when they used most of it.
func byOthers(e *audit, host record.Span) string {
	t, _ := timeOf(host, nil)
	_, _, length, _ := host.Metered()
	own, used := 0.0, (t.all-t.idle-t.steal)/1e9/length
	for _, c := range e.groups {
		if record.SameHost(c.spans[0].To.Meter, host.To.Meter) {
			own += c.used()
		}
	}
	if 2*own >= used {
		return ""
	}
	return fmt.Sprintf("; the trial's own processes used %s of that CPU time, other processes the rest", quantity.FormatShare(own/used))
}

// cpus names a CPU set, followed by the words for one CPU or for several: "CPU 0 was".
func cpus(set []int, one, several string) string {
	if len(set) == 1 {
		return "CPU " + CPUList(set) + one
	}
	return "CPUs " + CPUList(set) + several
}

// What its name stands for in netdyno explain.
var meanHostCPU = Meaning{Means: "all CPUs of a host were busy, or programs other than netdyno's filled the CPUs of an end", Cure: "end other programs, or give each end CPUs of its own"}
