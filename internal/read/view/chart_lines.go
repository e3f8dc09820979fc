package view

import (
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
)

// drawLines draws the metric over a factor, with a line for each level of another,
// and notes where the lines of arms cross.
func drawLines(s *cells.Dataset, c *Chart, m metric.Metric) {
	addLines(s, c)
	noteCrossings(s, c, m)
}

func addLines(s *cells.Dataset, c *Chart) {
	pools, drawn := pools(s, c, c.Spec.X, c.Spec.By)
	if drawn == nil {
		return
	}
	names := []Coordinate{{}}
	if c.Spec.By != "" {
		names = coordinates(s, drawn, c.Spec.By)
	}
	var words []string
	axis := coordinates(s, drawn, c.Spec.X)
	for _, name := range names {
		line := Line{Name: name.Text}
		for _, x := range axis {
			_, isNumber := NumberOf(x.Text)
			p := pools[chartPoint{x: x.Text, by: name.Text}]
			switch {
			case p == nil:
			case isNumber:
				if f, ok := p.Figure(); ok {
					line.Points = append(line.Points, Point{x, f})
				}
			case !slices.Contains(words, x.Text):
				words = append(words, x.Text)
			}
		}
		if len(line.Points) > 0 {
			c.Lines = append(c.Lines, line)
		}
	}
	if len(words) > 0 {
		c.note("%s=%s is left out: a line needs numbers", c.Spec.X, strings.Join(words, ","))
	}
}
