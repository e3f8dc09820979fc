package compare

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// FewSamples is what a warning is about where a metric is missing in some of an
// arm's trials. A percentile, which is one of the whole run, is missing in all or in none.
const FewSamples = "few-samples"

// fewSamples is one metric of an arm in a cell, in whose valid trials too few
// exchanges were completed for it to exist.
type fewSamples struct {
	metric metric.Metric
	arm    string // its label
	Trials int    // without the figure
	Of     int    // valid
	fewest int64  // exchanges that one of them completed; of a percentile, all together
}

// MissingIn looks at an arm's valid trials; false where none lacks the metric for
// want of exchanges.
func MissingIn(s *cells.Dataset, cell, arm, name string) (fewSamples, bool) {
	m, err := metric.Named(name)
	t := fewSamples{metric: m, arm: s.Names.Within(arm), fewest: m.Least}
	if err != nil || m.Least == 0 {
		return t, false
	}
	if m.Kind != "" {
		return t.missingInAll(s, cell, arm)
	}
	for _, v := range s.Of(cell, arm) {
		if v.Trial.Status != trial.Valid {
			continue
		}
		t.Of++
		if _, has := v.Trial.Values.Of(name); has {
			continue
		}
		if n, known := metric.Exchanges(record.NewWindow(v.Record)); known && n < m.Least {
			t.Trials, t.fewest = t.Trials+1, min(t.fewest, n)
		}
	}
	return t, t.Trials > 0
}

// missingInAll is MissingIn of a percentile.
func (t fewSamples) missingInAll(s *cells.Dataset, cell, arm string) (fewSamples, bool) {
	t.fewest = 0
	for _, v := range s.Of(cell, arm) {
		if n, known := int64(0), false; v.Trial.Status == trial.Valid {
			if n, known = metric.Exchanges(record.NewWindow(v.Record)); !known {
				return t, false
			}
			t.Trials, t.Of, t.fewest = t.Trials+1, t.Of+1, t.fewest+n
		}
	}
	return t, t.Of > 0 && t.fewest < t.metric.Least
}

// Want says what the trials lack.
func (t fewSamples) Want() string {
	if t.metric.Kind != "" {
		return fmt.Sprintf("it needs %d exchanges in all, and %s completed only %d", t.metric.Least, t.arm, t.fewest)
	}
	return fmt.Sprintf("it needs %d exchanges in a window, and %s completed only %d in one", t.metric.Least, t.arm, t.fewest)
}

// whyNoFigure explains why blocks of a comparison have no value: "" when it is not
// for want of exchanges.
func whyNoFigure(s *cells.Dataset, b *Pending) string {
	for _, arm := range []string{b.Arm, b.Base} {
		if t, found := MissingIn(s, b.Cell, arm, b.Metric); found {
			return "; " + t.Want()
		}
	}
	return wherePartial(s, b)
}

// wherePartial explains why blocks of a comparison have no value: "" when no
// trial of its arms stood still.
func wherePartial(s *cells.Dataset, b *Pending) string {
	for _, arm := range []string{b.Arm, b.Base} {
		judged, n := s.Of(b.Cell, arm), 0
		for _, v := range judged {
			n += oneIf(v.Trial.Partial())
		}
		if n > 0 && !trial.OutlivesStall(b.Metric) {
			return fmt.Sprintf("; in %d of %d trials %s stood still, so the figure is left out", n, len(judged), s.Names.Within(arm))
		}
	}
	return ""
}
