package finding

import (
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// fewSamples is one metric of an arm in a cell, in whose valid trials too few
// exchanges were completed for it to exist.
type fewSamples struct {
	metric metric.Metric
	arm    string
	trials int   // without the figure
	of     int   // valid
	fewest int64 // exchanges that one of them completed
}

// missingIn looks at an arm's valid trials; false where none lacks the metric for
// want of exchanges.
func (s *dataset) missingIn(cell, arm, name string) (fewSamples, bool) {
	m, err := metric.Named(name)
	t := fewSamples{metric: m, arm: arm, fewest: m.Least}
	if err != nil || m.Least == 0 {
		return t, false
	}
	for _, v := range s.of(cell, arm) {
		if v.trial.Status != Valid {
			continue
		}
		t.of++
		if _, has := v.trial.Values[name]; has {
			continue
		}
		if n, known := metric.Exchanges(record.NewWindow(v.record)); known && n < m.Least {
			t.trials, t.fewest = t.trials+1, min(t.fewest, n)
		}
	}
	return t, t.trials > 0
}

// want says what the trials lack.
func (t fewSamples) want() string {
	return fmt.Sprintf("it needs %d exchanges in a window, and %s completed as few as %d", t.metric.Least, t.arm, t.fewest)
}

// tooFew explains why blocks of a comparison have no value: "" when it is not
// for want of exchanges.
func (s *dataset) tooFew(b *pending) string {
	for _, arm := range []string{b.Arm, b.Base} {
		if t, found := s.missingIn(b.Cell, arm, b.Metric); found {
			return "; " + t.want()
		}
	}
	return s.wherePartial(b)
}

// warnFewSamples names metrics that were asked about and exist in some of an arm's
// trials only: those in which most was done are no sample of all. One that no
// trial has is refused instead.
func (s *dataset) warnFewSamples(f Findings) []record.Warning {
	var asked []string
	for _, m := range metric.All() {
		if s.primary(m.Name) || slices.ContainsFunc(f.Requirements, func(r Requirement) bool { return r.Metric == m.Name }) {
			asked = append(asked, m.Name)
		}
	}
	var all []record.Warning
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			for _, metric := range asked {
				if t, found := s.missingIn(cell.Name, arm.Name, metric); found && t.trials < t.of {
					all = append(all, record.Warning{
						About:  FewSamples,
						Text:   fmt.Sprintf("%s is absent from %d of %d valid trials of %s: %s", metric, t.trials, t.of, armOf(cell, arm), t.want()),
						Advice: "lengthen the window, or compare a percentile nearer to the middle",
					})
				}
			}
		}
	}
	return all
}
