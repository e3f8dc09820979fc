package report

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/part"
	"netdyno/internal/read/profile"
)

// endCosts are what the ends of a cell cost in their probes, in one unit; empty where
// not all of them are known in one.
type endCosts struct {
	of    map[endOf]float64
	most  float64
	scale metric.Scale
}

type endOf struct{ arm, end string }

// costsOf reads them from the stacks, which add up to them.
func (l *layout) costsOf(cell string) endCosts {
	c := endCosts{of: map[endOf]float64{}}
	unit := ""
	for _, f := range l.Flames {
		if f.Cell != cell {
			continue
		}
		if f.Metric == "" || !part.Finite(f.Whole) || f.Whole <= 0 {
			return endCosts{}
		}
		m := metric.Shown(f.Metric)
		if unit != "" && unit != m.Unit {
			return endCosts{}
		}
		unit = m.Unit
		c.of[endOf{f.Arm, f.End}] = f.Whole
		if f.Whole > c.most {
			c.most, c.scale = f.Whole, m.Scale(f.Whole)
		}
	}
	for _, p := range l.profilesOf(cell) {
		if _, known := c.of[endOf{p.Arm, p.End}]; !known {
			return endCosts{}
		}
	}
	return c
}

// length is an end's cost as a share of the largest; 1 where costs are not known.
func (c endCosts) length(p profile.Profile) float64 {
	if cost, known := c.of[endOf{p.Arm, p.End}]; known && c.most > 0 {
		return part.Brief(cost / c.most)
	}
	return 1
}

func (c endCosts) total(p profile.Profile) string {
	if cost, known := c.of[endOf{p.Arm, p.End}]; known {
		return c.scale.Format(cost) + " " + c.scale.Unit
	}
	return ""
}
