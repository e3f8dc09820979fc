package view

import (
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
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
