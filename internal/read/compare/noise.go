package compare

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// BoundsOf returns the A/A bounds by cell and metric.
func BoundsOf(noise []Noise) map[[2]string]float64 {
	bounds := map[[2]string]float64{}
	for _, n := range noise {
		bounds[[2]string{n.Cell, n.Metric}] = n.Bound
	}
	return bounds
}

// MeasureNoise compares the baseline with its own repeat, in every cell and on every
// metric that has a direction or is declared primary. Nothing differs there, so
// the part of a difference that the interval cannot explain is this run's bias,
// and no comparison may claim less. The width of the interval is not part of
// it: the spread of the trials is in each comparison's own interval already.
func MeasureNoise(s *cells.Dataset) []Noise {
	return cells.EachCell(s, func(cell string) []Noise { return noiseIn(s, cell) })
}

func noiseIn(s *cells.Dataset, cell string) []Noise {
	var all []Noise
	base := s.Header.Study.Compare.Baseline
	for _, m := range metric.All() {
		if m.Better == "" && !s.Primary(m.Name) {
			continue
		}
		p := pairRepeats(s, cell, m.Name, base)
		e, ok := p.Estimate()
		if !ok {
			continue
		}
		all = append(all, Noise{
			Cell: cell, Metric: m.Name, Ratio: e.Point, Low: e.Low, High: e.High, Ratios: p.Ratios, In: p.Blocks,
			Bound: max(e.Low, 1/e.High, 1) - 1, P: stat.SignFlip(p.Effects),
		})
	}
	return all
}
