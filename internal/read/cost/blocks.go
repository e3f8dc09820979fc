package cost

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/stat"
)

// blocks is an amount in every block of a run, and the standard deviation of its
// logarithm by which the models are off.
type blocks struct {
	run   string
	at    []int
	value []float64
	off   float64
}

// blocksAt is what a model gives in each of its blocks; false where one is not positive.
func (m *Model) blocksAt(x map[string]float64, sizes map[string]contract.Table) (blocks, bool) {
	value, ok := m.predict(x, sizes)
	return blocks{at: m.Blocks, value: value, off: m.Spread}, ok
}

// both keeps the blocks that two amounts have.
func (b blocks) both(other blocks, f func(x, y float64) float64) blocks {
	sum := blocks{run: b.run}
	for i, block := range b.at {
		if j := slices.Index(other.at, block); j >= 0 {
			sum.at, sum.value = append(sum.at, block), append(sum.value, f(b.value[i], other.value[j]))
		}
	}
	return sum
}

// plus adds the amounts of two ends. What both models are off by may have one cause,
// so it adds up.
func (b blocks) plus(other blocks) blocks {
	sum := b.both(other, func(x, y float64) float64 { return x + y })
	x, y := stat.Mean(b.value), stat.Mean(other.value)
	sum.off = (b.off*x + other.off*y) / (x + y)
	return sum
}

func (b blocks) times(k float64) blocks {
	b.value = slices.Clone(b.value)
	for i := range b.value {
		b.value[i] *= k
	}
	return b
}

// normal is how many standard deviations hold 95 % of a normal distribution.
const normal = 1.96

// figure is the geometric mean over the blocks. Its interval adds the blocks' own and
// what the model is off by, in squares.
func (b blocks) figure() Figure {
	logs, ok := stat.Logs(b.value)
	if !ok || len(logs) == 0 {
		return Figure{}
	}
	mean := stat.Mean(logs)
	return widened(mean, halfWidth(logs), b.off)
}

// halfWidth is half the width of the interval of a mean; 0 for one value.
func halfWidth(logs []float64) float64 {
	if len(logs) < leastBlocks {
		return 0
	}
	return stat.HalfWidth(len(logs), stat.SD(logs))
}

func widened(mean, half, off float64) Figure {
	wide := math.Hypot(half, normal*off)
	return Figure{math.Exp(mean), math.Exp(mean - wide), math.Exp(mean + wide)}
}

// over divides two amounts: block by block where they are of one run, else as
// independent ones.
func (b blocks) over(base blocks) Figure {
	off := math.Hypot(b.off, base.off)
	if b.run == base.run {
		ratios := b.both(base, func(x, y float64) float64 { return x / y })
		ratios.off = off
		return ratios.figure()
	}
	ours, _ := stat.Logs(b.value)
	theirs, _ := stat.Logs(base.value)
	one, ok := stat.MeanComponent(ours)
	other, both := stat.MeanComponent(theirs)
	mean := stat.Mean(ours) - stat.Mean(theirs)
	if !ok || !both {
		return widened(mean, 0, off)
	}
	e := stat.Apart(mean, one, other).At(1 - stat.Confidence)
	return widened(mean, (e.High-e.Low)/2, off)
}

func sorted[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// Amount prints a number of a factor: sizes as such.
func Amount(factor string, x float64) string {
	if factor == "request" || factor == "response" {
		return quantity.FormatBytes(x)
	}
	return quantity.FormatCount(x)
}
