package cost

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

const (
	leastDrawn = 3  // levels of a factor over which a cost is drawn
	curveSteps = 48 // of a model's line
	logSpan    = 30 // from which ratio of the ends on an axis is logarithmic
)

// figure draws a cost over each factor of its models: what was measured, and the model
// through it. Nil where no factor has enough levels.
func (c Cost) figure() *part.Figure {
	panels := &part.Panels{}
	var at []string
	scale := part.ScaleFor(c.Spec.Metric, c.largest())
	for _, factor := range factorsOf(c.Spec) {
		if chart, others := c.over(factor, scale); len(chart.Lines) > 0 {
			panels.Charts = append(panels.Charts, chart)
			at = append(at, part.Joined(" at ", "over "+factor, others))
		}
	}
	if len(panels.Charts) == 0 {
		return nil
	}
	return &part.Figure{Panels: panels, Heading: part.Heading{Wide: true, Caption: "Points are means over blocks with 95" + part.NoBreak +
		"% intervals, hollow ones of cells that the model has not seen; the line is the model. " + part.Capital(strings.Join(at, "; ")) + "."}}
}

// largest is the largest figure of what is drawn: one unit serves all of a cost's charts.
func (c Cost) largest() float64 {
	largest := 0.0
	for _, factor := range factorsOf(c.Spec) {
		for _, m := range c.Models {
			for _, d := range m.along(factor) {
				largest = max(largest, d.Value)
			}
		}
	}
	return largest
}

// over draws every model over a factor, the others as they are in the cells that have the
// most levels of it: others says how, in the first model.
func (c Cost) over(factor string, scale metric.Scale) (chart part.Lines, others string) {
	var values, levels []float64
	lines := make([][]drawnCell, len(c.Models))
	for i, m := range c.Models {
		lines[i] = m.along(factor)
		if len(lines[i]) < leastDrawn {
			continue
		}
		for _, d := range lines[i] {
			values, levels = append(values, d.Low, d.High), append(levels, d.x[factor])
		}
	}
	slices.Sort(levels)
	levels = slices.Compact(levels)
	if len(levels) < leastDrawn {
		return chart, ""
	}
	chart.X = part.Axis{Title: factor, Scale: metric.Scale{Factor: 1}, Log: spans(levels)}
	chart.Y = part.Axis{Title: part.Capital(part.AxisTitle(c.Spec.Metric, scale)), Scale: scale, Log: spans(values)}
	for _, level := range levels {
		chart.X.Ticks = append(chart.X.Ticks, part.Tick{At: level, Text: whole(Amount(factor, level))})
	}
	for i, m := range c.Models {
		if len(lines[i]) < leastDrawn {
			continue
		}
		others = cmp.Or(others, othersOf(lines[i][0].x, factor))
		line := part.Line{Colour: part.Colour{Arm: i}, Name: m.named(), Points: []part.LinePoint{}}
		if m.At == "" {
			line.Of = m.Arm
		}
		for _, d := range lines[i] {
			line.Points = append(line.Points, part.LinePoint{
				X: d.x[factor], Value: part.Brief(d.Value), Low: part.Brief(d.Low), High: part.Brief(d.High), Hollow: d.held,
				Text: Amount(factor, d.x[factor]) + ": " + part.FigureWords(c.Spec.Metric, d.Figure),
			})
		}
		if m.Reason == "" {
			line.Model = m.curve(factor, lines[i][0].x, levels, chart.X.Log)
		}
		chart.Lines = append(chart.Lines, line)
	}
	return chart, others
}

// drawnCell is a cell's levels and its figure.
type drawnCell struct {
	cells.Figure
	x    map[string]float64
	held bool
}

// along returns the cells that have the most levels of a factor with all else the same,
// rising by it.
func (m Model) along(factor string) []drawnCell {
	groups := map[string][]drawnCell{}
	for _, d := range m.drawn {
		key := othersOf(d.x, factor)
		groups[key] = append(groups[key], d)
	}
	var most []drawnCell
	for _, key := range sorted(groups) {
		if len(groups[key]) > len(most) {
			most = groups[key]
		}
	}
	slices.SortFunc(most, func(a, b drawnCell) int { return cmp.Compare(a.x[factor], b.x[factor]) })
	return most
}

// othersOf names the levels of all factors but one: "request 64 B, connections 4".
func othersOf(x map[string]float64, factor string) string {
	var parts []string
	for _, name := range sorted(x) {
		if name != factor {
			parts = append(parts, name+" "+whole(Amount(name, x[name])))
		}
	}
	return strings.Join(parts, ", ")
}

// whole leaves out decimals that are zero: levels were chosen, not measured.
func whole(amount string) string { return strings.NewReplacer(".00 ", " ", ".0 ", " ").Replace(amount) }

// drawnCells are the means of the cells of some points, in the order of their names.
func drawnCells(points []point) []drawnCell {
	var all []drawnCell
	for _, c := range measuredCells(points) {
		pool := cells.Pool{}
		for i, block := range c.blocks {
			pool.Add(block, math.Exp(c.logs[i]))
		}
		if f, ok := pool.Figure(); ok && f.Known() {
			if !f.Sure() {
				f.Low, f.High = f.Value, f.Value
			}
			all = append(all, drawnCell{f, c.mean.x, c.mean.held})
		}
	}
	return all
}

// curve is what the model gives over a factor, the others as at; at each level too, where
// it may bend.
func (m *Model) curve(factor string, at map[string]float64, levels []float64, log bool) [][2]float64 {
	low, high := levels[0], levels[len(levels)-1]
	places := slices.Clone(levels)
	for i := range curveSteps {
		share := float64(i) / curveSteps
		if log && low > 0 {
			places = append(places, low*math.Pow(high/low, share))
		} else {
			places = append(places, low+share*(high-low))
		}
	}
	slices.Sort(places)
	var curve [][2]float64
	x := maps.Clone(at)
	for _, place := range slices.Compact(places) {
		x[factor] = place
		if f, ok := m.Expected(x); ok && m.reaches(x) {
			curve = append(curve, [2]float64{part.Brief(place), part.Brief(f.Value)})
		}
	}
	return curve
}

// spans tells whether positive values lie so far apart that a logarithmic axis shows them
// better.
func spans(values []float64) bool {
	least, most := slices.Min(values), slices.Max(values)
	return least > 0 && most > logSpan*least
}

// verdict says in a clause how good a model is.
func (m Model) verdict() string {
	who := m.named()
	switch {
	case m.Reason != "":
		return fmt.Sprintf("%s has no model to use", who)
	case m.Rough:
		return fmt.Sprintf("%s is rough, within %s in nine of ten cells that it has not seen", who, quantity.FormatShare(m.P90))
	}
	return fmt.Sprintf("%s holds, within %s in nine of ten cells that it has not seen", who, quantity.FormatShare(m.P90))
}
