package answer

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// label is what an arm is called within a sentence: "gRPC (unary)" of "gRPC, unary".
func (f Found) label(arm string) string { return cells.ArmWithin(f.Header.Study, arm) }

func (f Found) labels(arms []string) []string {
	all := make([]string, len(arms))
	for i, arm := range arms {
		all[i] = f.label(arm)
	}
	return all
}

// few lists arms, and anyOf some to choose from; of many the first, and how many others.
func (f Found) few(arms []string) string { return f.first(arms, part.And, "%s and %d other arms") }

func (f Found) anyOf(arms []string) string { return f.first(arms, part.Or, "%s or one of %d others") }

func (f Found) first(arms []string, all func([]string) string, most string) string {
	if more := len(arms) - armsSaid + 1; more > 1 {
		return fmt.Sprintf(most, strings.Join(f.labels(arms[:armsSaid-1]), ", "), more)
	}
	return all(f.labels(arms))
}

func docsOf(metrics []string) []string {
	var all []string
	for _, name := range metrics {
		all = append(all, metric.Shown(name).Doc)
	}
	return all
}

// armIn is an arm of a cell.
func (f Found) armIn(cell, name string) (cells.Arm, bool) {
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			if c.Name == cell && a.Name == name {
				return a, true
			}
		}
	}
	return cells.Arm{}, false
}

// metrics are those that were judged, in the order in which the study weighs them, without
// those on which nothing can be compared.
func (f Found) metrics() []metric.Metric {
	names := f.Header.Study.Recommend
	if len(names) == 0 {
		names = f.Header.Study.Compare.Primary
	}
	var all []metric.Metric
	for _, name := range names {
		judged := slices.ContainsFunc(f.Best.Sets, func(s best.Set) bool { return s.Metric == name })
		mute := slices.ContainsFunc(f.Best.Advice, func(a best.Advice) bool {
			return slices.ContainsFunc(a.Mute, func(m best.Mute) bool { return m.Metric == name })
		})
		if judged && !mute {
			all = append(all, metric.Shown(name))
		}
	}
	return all
}

// metricsSaid bounds the metrics whose figures are said.
const metricsSaid = 2

// figures are those of some arms over some cells on the metrics that weigh most.
func (f Found) figures(arms, in []string, interval bool) string {
	var said []metric.Metric
	var amounts []string
	for _, m := range f.metrics() {
		if figure := f.figure(m, arms, in, interval && len(said) == 0); figure != "" && len(said) < metricsSaid {
			said, amounts = append(said, m), append(amounts, figure)
		}
	}
	return joinAmounts(said, amounts)
}

// figure is that of a metric; "" where it is not known in every cell.
func (f Found) figure(m metric.Metric, arms, in []string, interval bool) string {
	s, ok := f.spanIn(m, arms, in)
	switch {
	case !ok:
		return ""
	case interval && len(arms) == 1 && len(in) == 1:
		arm, _ := f.armIn(in[0], arms[0])
		only, _ := summary(arm, m.Name)
		if !only.Sure() {
			break
		}
		return amount(m, s, intervalOf(m, only.Value, only.Low, only.High))
	}
	return amount(m, s, "")
}

// spanIn is the metric over arms and cells; false where one of them has no figure.
func (f Found) spanIn(m metric.Metric, arms, in []string) (span, bool) {
	var values []float64
	for _, cell := range in {
		for _, name := range arms {
			arm, ok := f.armIn(cell, name)
			s, has := summary(arm, m.Name)
			if !ok || !has || !s.Known() || s.AtLeast {
				return span{}, false
			}
			values = append(values, s.Value)
		}
	}
	return spanOf(values), len(values) > 0
}
