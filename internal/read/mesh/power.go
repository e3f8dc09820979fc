package mesh

import (
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// Power is by how many times a host must be worse than the others by a metric to be named
// with a probability of Named, as this mesh's noise, blocks and partners are.
type Power struct {
	Metric string  `json:"metric"`
	Times  float64 `json:"times"` // 1.07: 7 % worse
}

// Named is the probability of a Power.
const Named = 0.95

// powers returns what a mesh that has drawn its ways can tell of a host, by metric.
func (r *reading) powers(m *Mesh) []Power {
	if m.Partners == 0 || m.Blocks < fewestBlocks {
		return nil
	}
	var all []Power
	for _, name := range []string{Goodput, r.latency, SendCPU, ReceiveCPU} {
		e, known := r.effects[name]
		if !known {
			continue
		}
		if log := detectable(e, m); log > 0 {
			all = append(all, Power{name, math.Exp(log)})
		}
	}
	return all
}

// detectable is the logarithm that a host must add to its pairs to be named with a
// probability of Named: the usual bound, half of an interval, which half of such hosts
// exceed, and how far the middle one of its blocks strays.
func detectable(e Effects, m *Mesh) float64 {
	var bounds []float64
	for _, one := range slices.Concat(e.From, e.To) {
		if one.Low > 0 {
			bounds = append(bounds, math.Log(one.High/one.Ratio))
		}
	}
	if len(bounds) == 0 {
		return 0
	}
	stray := spreadOfMedian / math.Sqrt(float64(m.Partners)) * e.Noise * ofMedian(m.Blocks)
	return max(stat.Median(bounds), math.Log1p(m.Margin)) + normal(1-Named)*stray
}
