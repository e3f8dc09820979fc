package cells

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// Summarize is a metric of an arm by its trials; false when none has it.
func Summarize(m metric.Metric, judged []*trial.Judged) (Summary, bool) {
	sum, ok := SummaryOf(m, PoolWithErrors(each(judged), m.Name))
	sum.Of = len(blocksRun(judged))
	return sum, ok
}

// SummaryOf sums up the figures of a metric; false when there are none.
func SummaryOf(m metric.Metric, p *Pool) (Summary, bool) {
	f, ok := p.Figure()
	if !ok {
		return Summary{}, false
	}
	return Summary{Metric: m.Name, Unit: m.Unit, Better: m.Better, Figure: f, Median: stat.Median(p.values())}, true
}

// SummaryOver is Summarize of an arm's valid trials in some blocks.
func SummaryOver(a Arm, m metric.Metric, blocks []int) (Summary, bool) {
	return SummaryOf(m, PoolOf(func(yield func(*trial.Trial) bool) {
		for t := range a.All() {
			if slices.Contains(blocks, t.Block) && !yield(t) {
				return
			}
		}
	}, m.Name))
}
