package compare

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
)

// Compare sets every arm against the baseline in every cell: first on the
// primary metrics, which form one family and are judged, then on the rest of the
// registry, which is explored and is not.
func Compare(s *cells.Dataset, noise []Noise) []Comparison {
	bounds := BoundsOf(noise)
	declared, explored := lineUp(s)
	ahead := outlookOf(s)
	for _, b := range declared {
		b.Bound = max(b.Margin, bounds[[2]string{b.Cell, b.Metric}])
	}
	ShareLevel(declared)
	var all []Comparison
	for _, b := range declared {
		b.Judge()
		b.decide(ahead)
		all = append(all, b.Comparison)
	}
	for _, b := range explored {
		b.LeaveUnjudged()
		all = append(all, b.Comparison)
	}
	return all
}

// lineUp makes the comparisons: declared ones always, explored ones where they
// have an interval.
func lineUp(s *cells.Dataset) (declared, explored []*Pending) {
	order := declaredFirst(s)
	all := cells.EachCell(s, func(cell string) []*Pending {
		var here []*Pending
		for _, m := range order {
			here = append(here, besideBaseline(s, cell, m)...)
		}
		return here
	})
	for _, b := range all {
		switch {
		case b.Primary:
			declared = append(declared, b)
		case b.Blocks >= 2:
			explored = append(explored, b)
		}
	}
	return declared, explored
}

// declaredFirst returns the metrics to compare on: those that the study declares,
// then all that have a direction.
func declaredFirst(s *cells.Dataset) []metric.Metric {
	var order []metric.Metric
	seen := map[string]bool{}
	for _, name := range s.Compare.Primary {
		if m, err := metric.Named(name); err == nil && !seen[name] {
			seen[name] = true
			order = append(order, m)
		}
	}
	for _, m := range metric.All() {
		if m.Better != "" && !seen[m.Name] {
			order = append(order, m)
		}
	}
	return order
}

// besideBaseline makes the comparisons of a cell on one metric: every arm with the
// baseline, and on a primary metric the pairs that the study declares besides, where the
// cell has both arms.
func besideBaseline(s *cells.Dataset, cell string, m metric.Metric) []*Pending {
	var here []*Pending
	base := s.Compare.Baseline
	for _, arm := range s.Arms {
		if arm != base && len(s.Of(cell, arm)) > 0 {
			here = append(here, Prepare(s, cell, m, arm, base))
		}
	}
	for _, p := range s.Compare.Also {
		if s.Primary(m.Name) && len(s.Of(cell, p.Arm)) > 0 && len(s.Of(cell, p.Base)) > 0 {
			here = append(here, Prepare(s, cell, m, p.Arm, p.Base))
		}
	}
	return here
}
