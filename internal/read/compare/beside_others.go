package compare

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// leastWaited is the share of the exchanges' time for which they waited for a CPU from
// which rates and times show how the kernel divided the CPUs.
const leastWaited = 0.01

// OthersTurnRatios ends each reason for which two arms may not be compared beside others.
const OthersTurnRatios = "how the kernel divides CPUs can turn a ratio round"

// refuseBesideOthers returns why two arms may not be compared on a machine whose CPUs
// other processes used; "" when they may. The kernel divides CPUs among threads, so an
// arm of many threads gets more of them than one of few: a ratio of rates was 2.05 that is
// 0.94 on CPUs of the trial's own. What has no time in it is spared, and a difference that
// is larger than all waiting for CPUs (specification §6.3).
func refuseBesideOthers(s *cells.Dataset, b *Pending) string {
	m, err := metric.Named(b.Metric)
	if err != nil || b.Arm == b.Base || !hasTime(m.Unit) {
		return ""
	}
	arm, base := besideOf(s, b.Cell, b.Arm), besideOf(s, b.Cell, b.Base)
	worse := arm
	if base.others > arm.others {
		worse = base
	}
	if worse.others == 0 || beyondWaiting(b, m, max(arm.waited, base.waited), arm.link && base.link) {
		return ""
	}
	return fmt.Sprintf("other processes used %s of the CPUs beside %s, and %s", quantity.FormatShare(worse.others), worse.name, OthersTurnRatios)
}

// beside is what other processes took of the CPUs in the median trial of an arm; the zero
// value where it was little in most.
type beside struct {
	name           string
	others, waited float64 // as trial.Trial has them
	link           bool    // its rate and times were the link's
}

func besideOf(s *cells.Dataset, cell, arm string) beside {
	var others, waited []float64
	much := 0
	for t := range s.TrialsOf(cell, arm) {
		if t.Status == trial.Valid {
			others, waited = append(others, t.Others), append(waited, t.Waited)
			much += oneIf(t.BesideOthers())
		}
	}
	limit, _ := cells.LimitOf(s.Of(cell, arm))
	if 2*much <= len(others) {
		return beside{link: limit == trial.Link}
	}
	return beside{arm, stat.Median(others), stat.Median(waited), limit == trial.Link}
}

// beyondWaiting tells whether a ratio says what it would without other processes: where the
// link decided, and one of rates, means or medians where exchanges hardly waited for a CPU,
// or where the interval lies further from 1 than if one arm had waited for that share of its
// exchanges' time and the other not at all. Nobody knows by how much others move a CPU
// cost or a tail.
func beyondWaiting(b *Pending, m metric.Metric, waited float64, link bool) bool {
	cost := strings.Contains(m.Name, "cpu_") || strings.HasSuffix(m.Name, ".cores")
	tail := IsLatency(m.Name) && !strings.Contains(m.Name, "_mean_") && !strings.Contains(m.Name, "_p50_")
	switch {
	case cost:
		return false
	case tail:
		return link
	}
	return link || waited < leastWaited || b.Low*(1-waited) > 1 || b.High < 1-waited
}

// hasTime tells by the unit whether a figure is of time: a rate, a duration, a use of
// CPUs.
func hasTime(unit string) bool {
	return slices.ContainsFunc(strings.Split(unit, "/"), func(part string) bool { return strings.HasSuffix(part, "s") })
}
