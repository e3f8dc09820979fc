package compare

import (
	"fmt"
	"iter"
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

// mostThreads is by how much the busy threads of two arms may differ.
const mostThreads = 1.25

// OthersTurnRatios ends each reason for which two arms may not be compared beside others.
const OthersTurnRatios = "beside them a comparison can come out the wrong way"

// RefuseBesideOthers is RefuseBeside of the two arms of a comparison within a run.
func RefuseBesideOthers(s *cells.Dataset, b *Pending) string {
	if b.Arm == b.Base {
		return ""
	}
	of := func(arm string) Beside {
		limit, _ := cells.LimitOf(s.Of(b.Cell, arm))
		return BesideOf(arm, s.TrialsOf(b.Cell, arm), limit)
	}
	arm, base := of(b.Arm), of(b.Base)
	if b.Pairs.beside.quiet {
		return ""
	}
	if c := b.Pairs.beside; c.apart && !beyondOthers(&b.Comparison, arm, base) {
		more, less, most, least := arm.name, base.name, c.arm, c.base
		if c.arm < c.base {
			more, less, most, least = less, more, least, most
		}
		return fmt.Sprintf("other processes used %s of the CPUs beside %s and %s beside %s, and %s",
			quantity.FormatShare(most), more, quantity.FormatShare(least), less, OthersTurnRatios)
	}
	return RefuseBeside(&b.Comparison, arm, base)
}

// RefuseBeside returns why two arms may not be compared on a machine whose CPUs other
// processes used; "" when they may. The kernel divides CPUs among threads, so an
// arm of many threads gets more of them than one of few: a ratio of rates was 2.05 that is
// 0.94 on CPUs of the trial's own. What has no time in it is judged all the same, as is a
// difference larger than all waiting for CPUs (specification §6.3).
func RefuseBeside(c *Comparison, arm, base Beside) string {
	worse := arm
	if base.others > arm.others {
		worse = base
	}
	if worse.others == 0 || beyondOthers(c, arm, base) {
		return ""
	}
	return fmt.Sprintf("other processes used %s of the CPUs beside %s, and %s", quantity.FormatShare(worse.others), worse.name, OthersTurnRatios)
}

// Beside is what other processes took of the CPUs in the median trial of an arm.
type Beside struct {
	name           string
	others, waited float64 // as trial.Trial has them; others is 0 where it was little in most trials
	link           bool    // its rate and times were the link's
	alternated     bool    // in slices with the other arms, beside whom others took what they took beside it
	threads        float64 // of its servers that were busy, in the median; of one that alternated
}

// BesideOf looks at an arm's trials, most of which had this limit.
func BesideOf(arm string, trials iter.Seq[*trial.Trial], limit trial.Limit) Beside {
	b := Beside{name: arm, link: limit == trial.Link}
	var others, waited, threads []float64
	much := 0
	for t := range trials {
		if t.Status == trial.Valid {
			others, waited = append(others, t.Others), append(waited, t.Waited)
			much += oneIf(t.BesideOthers())
			threads, b.alternated = append(threads, t.Threads), t.Alternated
		}
	}
	if len(waited) > 0 {
		b.waited, b.threads = stat.Median(waited), stat.Median(threads)
	}
	if 2*much > len(others) {
		b.others = stat.Median(others)
	}
	return b
}

// beyondOthers tells whether a ratio says what it would without other processes: one of
// figures without time; one of arms that others met alike, but of tails, which a few of
// their bursts make; where the link decided; and one of rates, means or medians where
// exchanges hardly waited for a CPU, or where the interval lies further from 1 than if one arm
// had waited for that share of its exchanges' time and the other not at all. Else nobody knows
// by how much others move a tail, nor, of arms that did not alternate, a CPU cost.
func beyondOthers(c *Comparison, arm, base Beside) bool {
	m, err := metric.Named(c.Metric)
	waited, link := max(arm.waited, base.waited), arm.link && base.link
	cost := strings.Contains(m.Name, "cpu_") || strings.HasSuffix(m.Name, ".cores")
	tail := isTail(m)
	switch {
	case err != nil || !hasTime(m.Unit), !tail && alike(arm, base):
		return true
	case cost:
		return arm.alternated && base.alternated
	case tail:
		return link
	}
	return link || waited < leastWaited || c.Low*(1-waited) > 1 || c.High < 1-waited
}

// isTail tells whether a metric is a percentile of times beyond the median.
func isTail(m metric.Metric) bool {
	return IsLatency(m.Name) && !strings.Contains(m.Name, "_mean_") && !strings.Contains(m.Name, "_p50_")
}

// alike tells whether the kernel gave two arms as much of the CPUs beside the same others: they
// alternated, and had about as many busy threads.
func alike(arm, base Beside) bool {
	return arm.alternated && base.alternated && min(arm.threads, base.threads) > 0 &&
		max(arm.threads, base.threads) <= mostThreads*min(arm.threads, base.threads)
}

// hasTime tells by the unit whether a figure is of time: a rate, a duration, a use of
// CPUs.
func hasTime(unit string) bool {
	return slices.ContainsFunc(strings.Split(unit, "/"), func(part string) bool { return strings.HasSuffix(part, "s") })
}
