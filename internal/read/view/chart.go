// Package view makes charts that a study asks for, and published
// ratios beside measured ones.
package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

func (c *Chart) note(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
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
	Notes       []string     `json:"notes,omitempty"`        // what was left out, or why nothing is drawn
}

// Charts are the charts of a run.
type Charts []Chart

// Part has no sections: whoever lays a page out draws the charts, as their marks stand for
// trials that the page shows.
func (c Charts) Part() part.Part {
	return part.Part{ID: "charts", Title: "Charts", Beside: true, Lines: terminalLines}
}

// terminalLines bounds what a terminal shows of charts.
const terminalLines = 90

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

// Mark is one arm (or level of By) in one cell: a point whose axes are two of the tables'
// figures, what the arm reaches and what it costs.
type Mark struct {
	Name    string       `json:"name"` // arm, or level of By
	Cell    string       `json:"cell"`
	Metric  cells.Figure `json:"metric"`
	Against cells.Figure `json:"against"`
	Front   bool         `json:"front"` // no other mark is as good in both and better in one
}

// drawers fill in the charts; a new kind is a file and a line here.
var drawers = map[record.ChartKind]func(*cells.Dataset, *Chart, metric.Metric){
	record.Lines: drawLines,
	record.Heat:  drawTiles,
	record.Front: drawFront,
}

// ChartsOf fills in some charts of a run, from valid trials alone.
func ChartsOf(s *cells.Dataset, specs []record.Chart) Charts {
	var all Charts
	for _, spec := range specs {
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
	if draw, known := drawers[spec.Kind]; known {
		draw(s, &c, m)
	} else {
		var kinds []string
		for _, kind := range slices.Sorted(maps.Keys(drawers)) {
			kinds = append(kinds, string(kind))
		}
		c.note("draw a chart of kind %q: %s", spec.Kind, quantity.Hint(string(spec.Kind), kinds))
	}
	return c
}

// drawTiles draws the metric over two factors, a tile for each pair of levels.
func drawTiles(s *cells.Dataset, c *Chart, _ metric.Metric) {
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

func drawLines(s *cells.Dataset, c *Chart, _ metric.Metric) {
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
