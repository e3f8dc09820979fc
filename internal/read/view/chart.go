// Package view makes what a study asks for beside its comparisons: charts, fits,
// searches, profiles and published ratios beside measured ones.
package view

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Charts fills in the charts that the study asks for, from valid trials alone.
func Charts(s *cells.Dataset) []Chart {
	var all []Chart
	for _, spec := range s.Header.Study.Charts {
		all = append(all, chart(s, spec))
	}
	return all
}

func chart(s *cells.Dataset, spec record.Chart) Chart {
	c := Chart{Spec: spec}
	m, err := metric.Named(spec.Metric)
	if err != nil {
		c.note("%v", err)
		return c
	}
	c.Unit = m.Unit
	switch spec.Kind {
	case record.Lines:
		drawLines(s, &c)
		noteCrossings(s, &c, m)
	case record.Heat:
		drawTiles(s, &c)
	case record.Front:
		drawFront(s, &c, m)
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
func pools(s *cells.Dataset, c *Chart, factors ...string) (map[chartPoint]*cells.Pool, []*trial.Judged) {
	var named []string
	for _, f := range factors {
		if f != "" {
			named = append(named, f)
		}
	}
	views, why := where(s, scope{c.Spec.Where, c.Spec.Arms}, named...)
	if why != "" {
		c.note("nothing is drawn: %s", why)
		return nil, nil
	}
	pools := map[chartPoint]*cells.Pool{}
	var drawn []*trial.Judged
	for _, v := range views {
		value, ok := v.Trial.Values[c.Spec.Metric]
		if !ok {
			continue
		}
		at := chartPointOf(s, v, c.Spec)
		if pools[at] == nil {
			pools[at] = &cells.Pool{}
		}
		pools[at].Add(v.Plan.Block, value)
		drawn = append(drawn, v)
	}
	if len(drawn) == 0 {
		c.note("nothing is drawn: no valid trial%s has %s", scope{c.Spec.Where, c.Spec.Arms}.String(), c.Spec.Metric)
		return nil, nil
	}
	noteMixed(s, c, drawn)
	return pools, drawn
}

func chartPointOf(s *cells.Dataset, v *trial.Judged, spec record.Chart) chartPoint {
	var at chartPoint
	at.x, _ = s.LevelOf(v, spec.X)
	if spec.Kind == record.Heat {
		at.y, _ = s.LevelOf(v, spec.Y)
	}
	if spec.Kind == record.Lines && spec.By != "" {
		at.by, _ = s.LevelOf(v, spec.By)
	}
	return at
}

// noteMixed names varied factors over whose levels single points average.
func noteMixed(s *cells.Dataset, c *Chart, drawn []*trial.Judged) {
	var mixed []string
	for _, f := range s.Header.Study.Vary {
		levels := map[chartPoint]string{}
		for _, v := range drawn {
			at := chartPointOf(s, v, c.Spec)
			level, _ := s.LevelOf(v, f.Name)
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

func drawLines(s *cells.Dataset, c *Chart) {
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
			_, isNumber := numberOf(x.Text)
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

func drawTiles(s *cells.Dataset, c *Chart) {
	pools, drawn := pools(s, c, c.Spec.X, c.Spec.Y)
	if drawn == nil {
		return
	}
	columns := coordinates(s, drawn, c.Spec.X)
	for _, y := range coordinates(s, drawn, c.Spec.Y) {
		for _, x := range columns {
			if p := pools[chartPoint{x: x.Text, y: y.Text}]; p != nil {
				if f, ok := p.Figure(); ok {
					c.Tiles = append(c.Tiles, Tile{x, y, f})
				}
			}
		}
	}
}

// Chart is a chart that the study asked for with what is drawn in it. Lines,
// Tiles or Marks are set, as Spec.Kind says.
type Chart struct {
	Spec        record.Chart `json:"spec"`
	Unit        string       `json:"unit"`                   // of Spec.Metric
	AgainstUnit string       `json:"against_unit,omitempty"` // of Spec.Against
	Lines       []Line       `json:"lines,omitempty"`        // in the order of By's levels
	Tiles       []Tile       `json:"tiles,omitempty"`        // by Y, then by X, both rising
	Marks       []Mark       `json:"marks,omitempty"`        // by name, then by cell, in the study's order
	Knee        string       `json:"knee,omitempty"`         // a front's: which mark is the knee and by which rule, or why there is none
	Notes       []string     `json:"notes,omitempty"`        // what was left out, or why nothing is drawn
}

// Line is one line of a chart: the metric at one level of By.
type Line struct {
	Name   string  `json:"name"`   // the level of By; "" when the chart has one line
	Points []Point `json:"points"` // rising by X
}

// Point is the metric at a level of X.
type Point struct {
	X Coordinate `json:"x"`
	cells.Figure
}

// Tile is one tile of a heat map.
type Tile struct {
	X Coordinate `json:"x"`
	Y Coordinate `json:"y"`
	cells.Figure
}

// Mark is one arm, or level of By, in one cell, by what it reaches and what
// that costs, as in the tables.
type Mark struct {
	Name    string       `json:"name"` // arm, or level of By
	Cell    string       `json:"cell"`
	Metric  cells.Figure `json:"metric"`
	Against cells.Figure `json:"against"`
	Front   bool         `json:"front"` // no other mark is as good in both and better in one
	Knee    bool         `json:"knee,omitempty"`
}
