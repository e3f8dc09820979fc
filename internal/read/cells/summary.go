package cells

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// Summarize is a metric of an arm by its trials; false when none has it.
func Summarize(m metric.Metric, judged []*trial.Judged) (Summary, bool) {
	return SummaryOf(m, PoolWithErrors(each(judged), m.Name))
}

// SummaryOf sums up the figures of a metric; false when there are none.
func SummaryOf(m metric.Metric, p *Pool) (Summary, bool) {
	f, ok := p.Figure()
	if !ok {
		return Summary{}, false
	}
	return Summary{Metric: m.Name, Unit: m.Unit, Better: m.Better, Figure: f, Median: stat.Median(p.values())}, true
}
