package finding

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// charts fills in the charts that the study asks for, from valid trials alone.
func (s *dataset) charts() []Chart {
	var all []Chart
	for _, spec := range s.header.Study.Charts {
		all = append(all, s.chart(spec))
	}
	return all
}

func (s *dataset) chart(spec record.Chart) Chart {
	c := Chart{Spec: spec}
	m, err := metric.Named(spec.Metric)
	if err != nil {
		c.note("%v", err)
		return c
	}
	c.Unit = m.Unit
	switch spec.Kind {
	case record.Lines:
		s.drawLines(&c)
		s.noteCrossings(&c, m)
	case record.Heat:
		s.drawTiles(&c)
	case record.Front:
		s.drawFront(&c, m)
	default:
		kinds := []string{string(record.Lines), string(record.Heat), string(record.Front)}
		c.note("draw a chart of kind %q: %s", spec.Kind, quantity.Hint(string(spec.Kind), kinds))
	}
	return c
}

func (c *Chart) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// chartPoint is where a chart shows a value.
type chartPoint struct{ x, y, by string }

// pools gathers the chart's metric by its factors. The trials are those it is
// of; nil, with a note, when there is nothing to draw.
func (s *dataset) pools(c *Chart, factors ...string) (map[chartPoint]*pool, []*view) {
	var named []string
	for _, f := range factors {
		if f != "" {
			named = append(named, f)
		}
	}
	views, why := s.where(scope{c.Spec.Where, c.Spec.Arms}, named...)
	if why != "" {
		c.note("nothing is drawn: %s", why)
		return nil, nil
	}
	pools := map[chartPoint]*pool{}
	var drawn []*view
	for _, v := range views {
		value, ok := v.trial.Values[c.Spec.Metric]
		if !ok {
			continue
		}
		at := s.chartPointOf(v, c.Spec)
		if pools[at] == nil {
			pools[at] = &pool{}
		}
		pools[at].add(v.plan.Block, value)
		drawn = append(drawn, v)
	}
	if len(drawn) == 0 {
		c.note("nothing is drawn: no valid trial%s has %s", scope{c.Spec.Where, c.Spec.Arms}.String(), c.Spec.Metric)
		return nil, nil
	}
	s.noteMixed(c, drawn)
	return pools, drawn
}

func (s *dataset) chartPointOf(v *view, spec record.Chart) chartPoint {
	var at chartPoint
	at.x, _ = s.levelOf(v, spec.X)
	if spec.Kind == record.Heat {
		at.y, _ = s.levelOf(v, spec.Y)
	}
	if spec.Kind == record.Lines && spec.By != "" {
		at.by, _ = s.levelOf(v, spec.By)
	}
	return at
}

// noteMixed names varied factors over whose levels single points average.
func (s *dataset) noteMixed(c *Chart, drawn []*view) {
	var mixed []string
	for _, f := range s.header.Study.Vary {
		levels := map[chartPoint]string{}
		for _, v := range drawn {
			at := s.chartPointOf(v, c.Spec)
			level, _ := s.levelOf(v, f.Name)
			if known, ok := levels[at]; ok && known != level && !slices.Contains(mixed, f.Name) {
				mixed = append(mixed, f.Name)
			}
			levels[at] = level
		}
	}
	if len(mixed) > 0 {
		c.note("points are geometric means over the levels of %s", strings.Join(mixed, " and "))
	}
}

func (s *dataset) drawLines(c *Chart) {
	pools, drawn := s.pools(c, c.Spec.X, c.Spec.By)
	if drawn == nil {
		return
	}
	names := []Coordinate{{}}
	if c.Spec.By != "" {
		names = s.coordinates(drawn, c.Spec.By)
	}
	var words []string
	axis := s.coordinates(drawn, c.Spec.X)
	for _, name := range names {
		line := Line{Name: name.Text}
		for _, x := range axis {
			_, isNumber := numberOf(x.Text)
			p := pools[chartPoint{x: x.Text, by: name.Text}]
			switch {
			case p == nil:
			case isNumber:
				if f, ok := p.figure(); ok {
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

func (s *dataset) drawTiles(c *Chart) {
	pools, drawn := s.pools(c, c.Spec.X, c.Spec.Y)
	if drawn == nil {
		return
	}
	columns := s.coordinates(drawn, c.Spec.X)
	for _, y := range s.coordinates(drawn, c.Spec.Y) {
		for _, x := range columns {
			if p := pools[chartPoint{x: x.Text, y: y.Text}]; p != nil {
				if f, ok := p.figure(); ok {
					c.Tiles = append(c.Tiles, Tile{x, y, f})
				}
			}
		}
	}
}
