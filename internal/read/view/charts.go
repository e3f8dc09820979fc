package view

import (
	"maps"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

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
