package profile

import (
	"math"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// Overhead is what probing costs an arm: a metric of the arm's probes divided by the same
// metric of its ordinary trials. Probes run after the ordinary trials, so the ratio also
// has a drift of the machine in it.
type Overhead struct {
	Cell   string  `json:"cell"`
	Arm    string  `json:"arm"`
	Metric string  `json:"metric"`
	Probes int     `json:"probes"` // that have the metric
	Trials int     `json:"trials"` // ordinary ones that do
	Ratio  float64 `json:"ratio"`  // of geometric means
	Low    float64 `json:"low"`    // its 95 % interval; of fewer than two probes or trials, both are Ratio
	High   float64 `json:"high"`
}

// disturbed are the metrics that a profiler may move, in groups: the first of each that
// the arm has.
func disturbed(s *cells.Dataset) [][]string {
	names := [][]string{{metric.ExchangesPerS, metric.Goodput}, nil, nil}
	for _, cost := range dividable(s) {
		names[1], names[2] = append(names[1], "server."+cost), append(names[2], "client."+cost)
	}
	return names
}

// Overheads returns the overheads of every arm that has probes, in the study's order.
func Overheads(s *cells.Dataset) []Overhead {
	var all []Overhead
	probes, _ := fit(s)
	metrics := disturbed(s)
	for at, judged := range s.Places() {
		for _, names := range metrics {
			for _, name := range names {
				if o, ok := overhead(probes[at], judged, name); ok {
					o.Cell, o.Arm = at.Cell, at.Arm
					all = append(all, o)
					break
				}
			}
		}
	}
	return all
}

func overhead(probes, trials []*trial.Judged, name string) (Overhead, bool) {
	m, err := metric.Named(name)
	if err != nil {
		return Overhead{}, false
	}
	var with, without []float64
	for _, v := range probes {
		if value, ok := m.Value(v.Record); ok {
			with = logged(with, value)
		}
	}
	for _, v := range trials {
		if value, ok := v.Trial.Values.Of(name); ok && v.Trial.Status == trial.Valid {
			without = logged(without, value)
		}
	}
	if len(with) == 0 || len(without) == 0 {
		return Overhead{}, false
	}
	e := stat.Estimate{Point: stat.Mean(with) - stat.Mean(without)}
	e.Low, e.High = e.Point, e.Point
	a, probed := stat.MeanComponent(with)
	b, measured := stat.MeanComponent(without)
	if probed && measured {
		e = stat.Apart(e.Point, a, b).At(1 - stat.Confidence)
	}
	return Overhead{
		Metric: name, Probes: len(with), Trials: len(without),
		Ratio: math.Exp(e.Point), Low: math.Exp(e.Low), High: math.Exp(e.High),
	}, true
}

// logged adds a value's logarithm; one that has none is left out.
func logged(to []float64, value float64) []float64 {
	if value > 0 && !math.IsInf(value, 1) {
		return append(to, math.Log(value))
	}
	return to
}
