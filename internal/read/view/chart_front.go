package view

import (
	"cmp"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
)

// drawFront sets every arm, or level of By, in every cell by two metrics, finds
// those that no other dominates, and the knee among them.
func drawFront(s *cells.Dataset, c *Chart, gain metric.Metric) {
	cost, err := metric.Named(c.Spec.Against)
	if err != nil {
		c.note("against: %v", err)
		return
	}
	c.AgainstUnit = cost.Unit
	for _, m := range []metric.Metric{gain, cost} {
		if m.Better == "" {
			c.note("nothing is drawn: %s has no better direction, so no point is better than another", m.Name)
			return
		}
	}
	by := c.Spec.By
	if by == "" {
		by = s.Compare.Factor
	}
	judged, why := Where(s, Scope{c.Spec.Where, c.Spec.Arms}, by)
	if why != "" {
		c.note("nothing is drawn: %s", why)
		return
	}
	at := map[cells.Key][]*trial.Judged{}
	for _, v := range judged {
		name, _ := s.LevelOf(v, by)
		at[cells.KeyOf(v.Plan.Cell, name)] = append(at[cells.KeyOf(v.Plan.Cell, name)], v)
	}
	for _, name := range coordinates(s, judged, by) {
		for _, cell := range s.Cells {
			c.mark(cells.KeyOf(cell, name.Text), at[cells.KeyOf(cell, name.Text)], gain, cost)
		}
	}
	if len(c.Marks) == 0 {
		c.note("nothing is drawn: no arm has both %s and %s", gain.Name, cost.Name)
		return
	}
	front{c, gain, cost}.findFront()
}

func (c *Chart) mark(at cells.Key, judged []*trial.Judged, gain, cost metric.Metric) {
	g, ok := cells.Summarize(gain, judged)
	a, known := cells.Summarize(cost, judged)
	if !ok || !known {
		return
	}
	c.Marks = append(c.Marks, Mark{
		Name: at.Arm, Cell: at.Cell,
		Metric: g.Figure, Against: a.Figure,
	})
}

// front is a chart with the meaning of its axes.
type front struct {
	chart      *Chart
	gain, cost metric.Metric
}

// gains and costs are what to maximise and minimise, whatever the directions of
// the metrics.
func (f front) gains(m Mark) float64 { return directed(m.Metric.Value, f.gain.Better == metric.Higher) }

func (f front) costs(m Mark) float64 { return directed(m.Against.Value, f.cost.Better == metric.Lower) }

func directed(x float64, keep bool) float64 {
	if keep {
		return x
	}
	return -x
}

// byCost returns the marks' places by rising cost, of equal ones the best first.
func (f front) byCost() []int {
	order := make([]int, len(f.chart.Marks))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := f.chart.Marks[i], f.chart.Marks[j]
		return cmp.Or(cmp.Compare(f.costs(a), f.costs(b)), cmp.Compare(f.gains(b), f.gains(a)))
	})
	return order
}

// findFront marks what no other is at least as good as in both and better in
// one. By rising cost that is whatever gains more than all before it.
func (f front) findFront() {
	var best *Mark
	for _, i := range f.byCost() {
		m := &f.chart.Marks[i]
		same := best != nil && f.gains(*m) == f.gains(*best) && f.costs(*m) == f.costs(*best)
		if best == nil || same || f.gains(*m) > f.gains(*best) {
			m.Front, best = true, m
		}
	}
}
