package trial

import (
	"fmt"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// HostCPU says that a whole host, or CPUs that others use as well, had no idle time.
const HostCPU Limit = "host-cpu"

// hostIdle is the share of a host's CPU time below which it counts as full
// (specification §5).
const hostIdle = 0.05

// waitedLong is the share of the exchanges' time for which the ends' threads waited
// for a CPU, from which it counts as what the exchanges waited for (specification §5).
const waitedLong = 0.25

// Of a link that held packets back while the ends waited for a CPU as well, the one
// that did so for longer is the limit.
var limitHostCPU = limitRule{HostCPU, func(e *audit) (contract.Role, string) {
	proof, waited := fullHost(e)
	if waited < heldByLink(e) {
		return "", ""
	}
	return "", proof
}, meanHostCPU}

// fullHost proves that an end wanted a CPU where all were busy: the trial's own
// processes filled them, or its threads waited for one, for that share of the
// exchanges' time, while others had it.
func fullHost(e *audit) (proof string, waited float64) {
	for _, f := range fullCPUs(e) {
		switch waited, known := e.waitedForCPU(f.host); {
		case f.own >= setBusy*f.busy:
			return f.words, 1
		case known && waited >= waitedLong:
			return f.words + fmt.Sprintf("; the trial's exchanges waited for a CPU for %s of their time", quantity.FormatShare(waited)), waited
		}
	}
	return "", 0
}

// busyCPUs are CPUs without idle time.
type busyCPUs struct {
	host  record.Span
	words string
	own   float64 // share of their time that the trial's own processes used, and interrupts
	busy  float64 // share of their time that was not idle
}

// fullCPUs returns the hosts that had no idle time, and else the CPU sets of ends.
func fullCPUs(e *audit) []busyCPUs {
	var full []busyCPUs
	for _, h := range e.window.Hosts() {
		if e.pollsAt(h) {
			continue
		}
		if busy, ok := busyShare(h, nil); ok && busy > 1-hostIdle {
			all := len(h.To.Meter.CPUs)
			own := ownShare(e, h, nil)
			full = append(full, busyCPUs{h, fmt.Sprintf("all %d CPUs of %s were %.1f %% busy%s", all, h.Worker.Seat, 100*busy, byOthers(own, busy)), own, busy})
		}
	}
	for _, c := range e.groups {
		busy, ok := busyShare(c.spans[0], c.set)
		if !ok || busy < coreBusy || len(c.set) == 0 || c.polls() {
			continue
		}
		own := ownShare(e, c.spans[0], c.set)
		words := fmt.Sprintf("%s %.1f %% busy%s", cpus(c.set, " was", " were"), 100*busy, byOthers(own, busy))
		if c.shares(e.groups) {
			words = fmt.Sprintf("server and client share %s %.1f %% busy%s", cpus(c.set, ", which was", ", which were"), 100*busy, byOthers(own, busy))
		}
		full = append(full, busyCPUs{c.spans[0], words, own, busy})
	}
	return full
}

// ownShare returns the share of the time of a host's CPUs, or of a set of them, that
// the trial's own processes used there, with the interrupts, which its traffic causes.
func ownShare(e *audit, host record.Span, set []int) float64 {
	on := set
	if len(set) == 0 {
		on = allCPUs(host.To.Meter)
	}
	used := e.usedOn(host, set, func(c workerGroup) float64 { return c.used() * c.withoutSteal() })
	return (used + interruptCores(host, on)) / float64(len(on))
}

// usedOn sums what the trial's groups used, in cores, of a host's CPUs, or of a set of
// them.
func (e *audit) usedOn(host record.Span, set []int, used func(workerGroup) float64) float64 {
	sum := 0.0
	for _, c := range e.groups {
		if record.SameHost(c.spans[0].To.Meter, host.To.Meter) && (len(set) == 0 || within(c.set, set)) {
			sum += used(c)
		}
	}
	return sum
}

// allCPUs are those that a reading of a host names.
func allCPUs(of *contract.Meter) []int {
	all := make([]int, 0, len(of.CPUs))
	for _, cpu := range of.CPUs {
		all = append(all, cpu.ID)
	}
	return all
}

// within tells whether all CPUs of a set are among others.
func within(set, others []int) bool {
	return len(set) > 0 && !slices.ContainsFunc(set, func(cpu int) bool { return !slices.Contains(others, cpu) })
}

// byOthers says that the trial's own processes used the smaller part of full CPUs'
// time; "" when they used most of it.
func byOthers(own, busy float64) string {
	if 2*own >= busy {
		return ""
	}
	return fmt.Sprintf("; the trial's own processes used %s of that CPU time, other processes the rest", quantity.FormatShare(own/busy))
}

// cpus names a CPU set, followed by the words for one CPU or for several: "CPU 0 was".
func cpus(set []int, one, several string) string {
	if len(set) == 1 {
		return "CPU " + CPUList(set) + one
	}
	return "CPUs " + CPUList(set) + several
}

// What its name stands for in netdyno explain.
var meanHostCPU = Meaning{Called: "the host's CPUs", Means: "all CPUs of a host or of an end were busy, and the trial filled them itself or waited for them", Cure: "end other programs, or give each end CPUs of its own"}
