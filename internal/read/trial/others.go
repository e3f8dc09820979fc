package trial

import (
	"slices"

	"netdyno/internal/record"
)

const (
	// LeastOfOthers is the share of the CPUs' time from which others' use of them is told.
	LeastOfOthers = 0.10
	// leastOthersNs is the least CPU time of others that is told: five of the ticks in
	// which the kernel counts a CPU's time.
	leastOthersNs = 50e6
	// muchOfOthers is the share from which what an exchange costs is not what it costs on
	// CPUs that the trial has to itself (specification §6.3).
	muchOfOthers = 0.25
)

// BesideOthers tells whether so much of the CPUs' time went to other processes that how the
// kernel divides CPUs shows in the trial's figures.
func (t Trial) BesideOthers() bool { return t.Others >= muchOfOthers }

// othersShare returns the share of the CPUs' time that processes which are none of the trial's
// used, of the host on which it was most: of the CPUs on which the trial's workers might
// run, less interrupts, which its traffic causes, and what the hypervisor took; 0 where it
// is less than is told. Raw is that share however small. Both are 0 where not all that served
// was metered: what a server asked to do its work is no stranger.
func (e *audit) othersShare() (told, raw float64) {
	if e.elsewhere() || len(e.window.Record.Away()) > 0 || flagOnward.raise(e) != "" {
		return 0, 0
	}
	for _, h := range e.window.Hosts() {
		set, own := e.mayRunOn(h), e.usedOn(h, nil, workerGroup.used)
		t, ok := timeOf(h, set)
		_, _, length, metered := h.Metered()
		if !ok || !metered || len(set) == 0 {
			continue
		}
		theirs := t.all - t.idle - t.steal - (own+interruptCores(h, set))*length*1e9 - float64(e.window.Record.BesideNs[h.To.Meter.BootID])
		share := theirs / t.all
		if raw = max(raw, share); theirs >= leastOthersNs && share >= LeastOfOthers {
			told = max(told, share)
		}
	}
	return told, raw
}

// waitedBeside returns the share of the exchanges' time for which they waited for a CPU
// beside others, of the host on which it was most: 1 where the kernel does not tell, 0
// without others.
func (e *audit) waitedBeside() float64 {
	if e.others == 0 {
		return 0
	}
	most := 0.0
	for _, h := range e.window.Hosts() {
		share, known := e.waitedForCPU(h)
		if !known {
			share = 1
		}
		most = max(most, share)
	}
	return most
}

// mayRunOn returns the CPUs of a host on which the trial's workers might run.
func (e *audit) mayRunOn(host record.Span) (set []int) {
	_, to, _, _ := host.Metered()
	if to == nil {
		return nil
	}
	for _, c := range e.groups {
		if !record.SameHost(c.spans[0].To.Meter, host.To.Meter) {
			continue
		}
		on := c.set
		if len(on) == 0 {
			on = allCPUs(to)
		}
		for _, cpu := range on {
			if !slices.Contains(set, cpu) {
				set = append(set, cpu)
			}
		}
	}
	return set
}
