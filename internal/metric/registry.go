package metric

import (
	"fmt"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// registry has every metric of a trial in display order.
var registry = registered()

func registered() []Metric {
	return headed(slices.Concat(
		loadMetrics(), latencyMetrics(), stageMetrics(), eventMetrics(), slowdownMetrics(), arrivalMetrics(), costMetrics(), hopMetrics(), hostMetrics(), linkMetrics(),
		interfaceMetrics(), tcpMetrics(), udpMetrics(), connectionMetrics(), memoryMetrics(), startMetrics(), runtimeMetrics(),
	))
}

// headed gives metrics that need no shorter heading their label as one.
func headed(metrics []Metric) []Metric {
	for i := range metrics {
		if metrics[i].Heading == "" {
			metrics[i].Heading = metrics[i].Label
		}
	}
	return metrics
}

// All returns every metric of a trial in display order. The caller owns the
// slice.
func All() []Metric { return slices.Clone(registry) }

// Measure returns every figure of a trial that its window has.
func Measure(w *record.Window) map[string]float64 {
	figures := make(map[string]float64, len(registry))
	for i := range registry {
		if x, ok := registry[i].In(w); ok {
			figures[registry[i].Name] = x
		}
	}
	return figures
}

// Named returns the metric of a trial that has this name, or an error that
// names the nearest one.
func Named(name string) (Metric, error) {
	for i := range registry {
		if registry[i].Name == name {
			return registry[i], nil
		}
	}
	return Metric{}, fmt.Errorf("find metric %q: %s", name, quantity.Hint(name, names))
}

// Shown returns the metric of a trial by its name. For a name that the
// registry does not know it returns a metric with that name as its label and no unit, so
// that a reader can show a figure that a newer version wrote.
func Shown(name string) Metric {
	for _, m := range registry {
		if m.Name == name {
			return m
		}
	}
	return Metric{Name: name, Label: name, Heading: name}
}
