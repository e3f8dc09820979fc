package cells

import (
	"iter"
	"maps"
	"math"
	"slices"

	"netdyno/internal/read/trial"
)

// Figures by block: a block is what arms have in common, so differences are taken
// within blocks, and of logarithms, because what disturbs a machine multiplies.

// TrialsOf returns the trials of an arm in a cell.
func (s *Dataset) TrialsOf(cell, arm string) iter.Seq[*trial.Trial] { return Each(s.Of(cell, arm)) }

// Each returns the trials of judged.
func Each(judged []*trial.Judged) iter.Seq[*trial.Trial] {
	return func(yield func(*trial.Trial) bool) {
		for _, v := range judged {
			if !yield(&v.Trial) {
				return
			}
		}
	}
}

// Logs returns the logarithms of a metric's valid values by block, of an arm's
// first appearances there or of its repeats.
func Logs(trials iter.Seq[*trial.Trial], metric string, repeat bool) map[int]float64 {
	byBlock := map[int]float64{}
	for t := range trials {
		if x, ok := t.Values.Of(metric); ok && t.Status == trial.Valid && t.Repeat == repeat && Usable(x) {
			byBlock[t.Block] = math.Log(x)
		}
	}
	return byBlock
}

// MeanLogs returns for each block the mean over an arm's appearances there, and
// in how many blocks there is none because a figure is 0.
func MeanLogs(trials iter.Seq[*trial.Trial], metric string) (byBlock map[int]float64, zeros int) {
	p := PoolOf(trials, metric)
	byBlock = map[int]float64{}
	for _, block := range p.Rising() {
		if x, ok := p.Log(block); ok {
			byBlock[block] = x
		} else {
			zeros++
		}
	}
	return byBlock, zeros
}

// Subtract returns a − b of the blocks that both have.
func Subtract(a, b map[int]float64) map[int]float64 {
	rest := map[int]float64{}
	for block, x := range a {
		if other, both := b[block]; both {
			rest[block] = x - other
		}
	}
	return rest
}

// InOrder returns values rising by block.
func InOrder(values map[int]float64) []float64 {
	all := make([]float64, 0, len(values))
	for _, block := range slices.Sorted(maps.Keys(values)) {
		all = append(all, values[block])
	}
	return all
}
