package finding

import (
	"iter"
	"maps"
	"math"
	"slices"
)

// Figures by block: a block is what arms have in common, so differences are
// taken there, and of logarithms, as what disturbs a machine multiplies.

// all returns the arm's trials.
func (a Arm) all() iter.Seq[*Trial] {
	return func(yield func(*Trial) bool) {
		for i := range a.Trials {
			if !yield(&a.Trials[i]) {
				return
			}
		}
	}
}

// trials returns those of an arm in a cell.
func (s *dataset) trials(cell, arm string) iter.Seq[*Trial] { return each(s.of(cell, arm)) }

// each returns the trials of views.
func each(views []*view) iter.Seq[*Trial] {
	return func(yield func(*Trial) bool) {
		for _, v := range views {
			if !yield(&v.trial) {
				return
			}
		}
	}
}

// logs returns the logarithms of a metric's valid values by block, of an arm's
// first appearances there or of its repeats.
func logs(trials iter.Seq[*Trial], metric string, repeat bool) map[int]float64 {
	byBlock := map[int]float64{}
	for t := range trials {
		if x, ok := t.Values[metric]; ok && t.Status == Valid && t.Repeat == repeat && usable(x) {
			byBlock[t.Block] = math.Log(x)
		}
	}
	return byBlock
}

// meanLogs returns for each block the mean over an arm's appearances there, and
// in how many blocks there is none because a figure is 0.
func meanLogs(trials iter.Seq[*Trial], metric string) (byBlock map[int]float64, zeros int) {
	p := poolOf(trials, metric)
	byBlock = map[int]float64{}
	for block := range p.blocks {
		if x, ok := p.log(block); ok {
			byBlock[block] = x
		} else {
			zeros++
		}
	}
	return byBlock, zeros
}

// subtract returns a − b of the blocks that both have.
func subtract(a, b map[int]float64) map[int]float64 {
	rest := map[int]float64{}
	for block, x := range a {
		if other, both := b[block]; both {
			rest[block] = x - other
		}
	}
	return rest
}

// inOrder returns values rising by block.
func inOrder(values map[int]float64) []float64 {
	all := make([]float64, 0, len(values))
	for _, block := range rising(values) {
		all = append(all, values[block])
	}
	return all
}

func rising(values map[int]float64) []int { return slices.Sorted(maps.Keys(values)) }
