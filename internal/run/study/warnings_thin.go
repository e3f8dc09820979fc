package study

import (
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// warnThin names metrics that will not exist because their trials have fewer
// exchanges than they need: as many as a rate offers in a window, or as a fixed
// amount of work has. How many a closed loop gets to do is not known here.
func (s *Study) warnThin() []record.Warning {
	asked := slices.DeleteFunc(metric.All(), func(m metric.Metric) bool {
		required := slices.ContainsFunc(s.Requires, func(r record.Require) bool { return r.Metric == m.Name })
		return m.Least == 0 || !required && !slices.Contains(s.Compare.Primary, m.Name)
	})
	if len(asked) == 0 {
		return nil
	}
	fewest, known := s.fewestExchanges()
	var out []record.Warning
	for _, m := range asked {
		if known && fewest < float64(m.Least) {
			out = append(out, record.Warning{
				About:  "thin",
				Text:   fmt.Sprintf("%s needs %d exchanges in a trial, and there are trials of %.0f", m.Name, m.Least, fewest),
				Advice: "lengthen the window, or compare a percentile nearer to the middle",
			})
		}
	}
	return out
}

// fewestExchanges returns how many a trial of the plan is offered at the least;
// false when none says.
func (s *Study) fewestExchanges() (fewest float64, known bool) {
	type load struct{ rate, window, amount, connections, active string }
	seen := map[load]bool{}
	for _, t := range s.pairs() {
		l := load{t.Levels["rate"], t.Levels["window"], t.Levels["amount"], t.Levels["connections"], t.Levels["active"]}
		if seen[l] {
			continue
		}
		seen[l] = true
		w, err := Decode(t.Levels)
		if err != nil {
			continue // no trial will come of it; the bench says why
		}
		n := w.Load.Rate * w.Window.Seconds()
		if w.Load.Amount > 0 {
			n = float64(w.Load.Amount) * max(1, w.Load.ActiveShare*float64(w.Load.Connections))
		}
		if n > 0 && (!known || n < fewest) {
			fewest, known = n, true
		}
	}
	return fewest, known
}
