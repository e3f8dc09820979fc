package report

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// On a link whose rate is known goodput is shown in the link's own unit too, and
// with the cores that it takes.
const (
	goodputMetric   = "goodput_bytes_per_s"
	coresMetric     = "server.cores"
	linkShareMetric = "link_rate_share" // which exists where the link's rate is known
)

var gigabits = metric.Scale{Factor: 1e9 / 8, Unit: "Gbit/s"}

// onLink tells whether a cell ran over a link whose rate is known.
func onLink(c cells.Cell) bool {
	return slices.ContainsFunc(c.Arms, func(a cells.Arm) bool {
		_, known := summaryOf(a, linkShareMetric)
		return known
	})
}

// withCores puts the server's cores behind the goodput of a link.
func withCores(c cells.Cell, metrics []string) []string {
	at := slices.Index(metrics, goodputMetric)
	if at < 0 || !onLink(c) || slices.Contains(metrics, coresMetric) {
		return metrics
	}
	return slices.Insert(metrics, at+1, coresMetric)
}

// inGigabits is the column of a goodput in Gbit/s, with a figure for each arm.
func inGigabits(arms []cells.Arm) (part.Column, []part.Datum) {
	column := metricColumn(goodputMetric, gigabits)
	var figures []part.Datum
	for _, a := range arms {
		figures = append(figures, armFigure(a, goodputMetric, gigabits))
	}
	return column, figures
}
