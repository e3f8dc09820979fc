package report

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// gigabits is the link's own unit, in which goodput is shown too on a link whose rate
// is known, with the cores that it takes.
var gigabits = metric.Scale{Factor: 1e9 / 8, Unit: "Gbit/s"}

// onLink tells whether a cell ran over a link whose rate is known: there the metric
// of its share exists.
func onLink(c cells.Cell) bool {
	return slices.ContainsFunc(c.Arms, func(a cells.Arm) bool {
		_, known := a.Summary(metric.LinkRateShare)
		return known
	})
}

// withCores puts the server's cores behind the goodput of a link.
func withCores(c cells.Cell, metrics []string) []string {
	at := slices.Index(metrics, metric.Goodput)
	if at < 0 || !onLink(c) || slices.Contains(metrics, metric.OfServer+metric.Cores) {
		return metrics
	}
	return slices.Insert(metrics, at+1, metric.OfServer+metric.Cores)
}

// inGigabits is the column of a goodput in Gbit/s, with a figure for each arm.
func inGigabits(arms []cells.Arm) (part.Column, []part.Datum) {
	column := metricColumn(metric.Goodput, gigabits)
	var figures []part.Datum
	for _, a := range arms {
		figures = append(figures, armFigure(a, metric.Goodput, gigabits))
	}
	return column, figures
}
