// Package view makes charts that a study asks for, timelines of trials, and published
// ratios beside measured ones.
package view

import (
	"fmt"

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
	Knee        string       `json:"knee,omitempty"`         // a front's: which mark is the knee and by which rule, or why there is none
	Crosses     []Cross      `json:"crosses,omitempty"`      // where arms cross the baseline, as far as it is known
	Notes       []string     `json:"notes,omitempty"`        // what was left out, or why nothing is drawn
	Windows     bool         `json:"-"`                      // its points are windows at their rates, of a study that searches for one
}

// Charts are those of a run.
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
