package finding

import (
	"iter"
	"maps"
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// pool is a metric's figures by block: of an arm in a cell, or of all trials
// that a chart shows at one place. The zero value is empty.
type pool struct {
	trials int
	blocks map[int][]float64
	plain  bool // means are arithmetic, as a figure is 0 or the metric an error share
}

// poolOf gathers the valid trials' figures of a metric.
func poolOf(trials iter.Seq[*Trial], metric string) *pool {
	p := &pool{}
	for t := range trials {
		if x, ok := t.Values[metric]; ok && t.Status == Valid {
			p.add(t.Block, x)
		}
	}
	return p
}

// errorShare is the one metric to which an invalid trial has something to say:
// one that is invalid because exchanges failed. It is 0 wherever none did, so
// its mean is arithmetic everywhere.
const errorShare = "error_share"

// toldOf is poolOf for an arm's own figure, with what invalid trials tell of
// errors. Comparisons never rest on it.
func toldOf(trials iter.Seq[*Trial], metric string) *pool {
	if metric != errorShare {
		return poolOf(trials, metric)
	}
	p := &pool{plain: true}
	for t := range trials {
		if x, ok := t.Values[metric]; ok && (t.Status == Valid || t.Errors > 0) {
			p.add(t.Block, x)
		}
	}
	return p
}

// add enters one trial's figure; what is not a number is left out.
func (p *pool) add(block int, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return
	}
	if p.blocks == nil {
		p.blocks = map[int][]float64{}
	}
	p.trials++
	p.blocks[block] = append(p.blocks[block], value)
	p.plain = p.plain || value <= 0
}

// log returns the logarithm of a block's geometric mean; false where a figure
// there is 0.
func (p *pool) log(block int) (float64, bool) {
	logs, ok := stat.Logs(p.blocks[block])
	return stat.Mean(logs), ok && len(logs) > 0
}

// figure is the mean over blocks with its interval, kept finite; false for an
// empty pool.
func (p *pool) figure() (Figure, bool) {
	if p.trials == 0 {
		return Figure{}, false
	}
	f := Figure{N: len(p.blocks), Trials: p.trials}
	means := make([]float64, 0, len(p.blocks))
	for _, block := range slices.Sorted(maps.Keys(p.blocks)) {
		if log, ok := p.log(block); ok && !p.plain {
			means = append(means, log)
		} else {
			means = append(means, stat.Mean(p.blocks[block]))
		}
	}
	e := stat.Estimate{Point: means[0], Low: means[0], High: means[0]}
	if several, ok := stat.MeanAt(means, 1-stat.Confidence); ok {
		e = several
	}
	if !p.plain {
		e = stat.Estimate{Point: math.Exp(e.Point), Low: math.Exp(e.Low), High: math.Exp(e.High)}
	} else {
		f.Mean = Arithmetic
		if e.Point >= 0 {
			e.Low = max(e.Low, 0) // no figure lies below
		}
	}
	f.Value = finite(e.Point)
	f.Low, f.High = min(finite(e.Low), f.Value), max(finite(e.High), f.Value)
	return f, true
}

// values returns the figures of all trials.
func (p *pool) values() []float64 {
	all := make([]float64, 0, p.trials)
	for _, block := range slices.Sorted(maps.Keys(p.blocks)) {
		all = append(all, p.blocks[block]...)
	}
	return all
}

// finite keeps a number within what JSON can hold.
func finite(x float64) float64 { return max(-math.MaxFloat64, min(x, math.MaxFloat64)) }

// divide returns the ratios of a to b within the blocks that both have. Where a
// figure there is 0 there are none at all: 0 has no logarithm, and the ratios of
// the other blocks alone would be a choice among them.
func divide(a, b *pool) pairs {
	var p pairs
	var over, under []float64
	for _, block := range slices.Sorted(maps.Keys(a.blocks)) {
		if len(b.blocks[block]) == 0 {
			continue
		}
		x, ok := a.log(block)
		y, both := b.log(block)
		if !ok || !both {
			p.zeros++
			continue
		}
		if p.add(block, math.Exp(x-y)) {
			over, under = append(over, x), append(under, y)
		}
	}
	if p.zeros > 0 {
		return pairs{zeros: p.zeros}
	}
	p.partial = len(over) < max(len(a.blocks), len(b.blocks))
	if len(over) > 0 {
		p.value, p.base = finite(math.Exp(stat.Mean(over))), finite(math.Exp(stat.Mean(under)))
	}
	return p
}
