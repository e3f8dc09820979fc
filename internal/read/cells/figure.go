package cells

import (
	"fmt"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// Usable tells whether x can be divided by and drawn on a log scale.
func Usable(x float64) bool { return x > 0 && !math.IsInf(x, 1) && !math.IsNaN(x) }

// Figure is a metric over the blocks of some trials. A block's value is the
// geometric mean of its valid trials, Value that of the blocks; a percentile is one of
// all times together. The ratio of two figures over the same blocks is their quotient.
type Figure struct {
	N      int     `json:"n"`            // blocks with a valid trial
	Of     int     `json:"of,omitempty"` // blocks that have run, where that is counted
	Trials int     `json:"trials"`       // valid, in all blocks
	Value  float64 `json:"value"`
	Mean   string  `json:"mean,omitempty"` // Arithmetic or Whole; "" is the geometric mean
	Low    float64 `json:"low"`            // 95 % interval of Value by Student's t over blocks; equal to Value when N < 2
	High   float64 `json:"high"`

	// Value is a lower bound, because in one of the trials exchanges that were left
	// unfinished would raise the figure. Low is one too, and High says nothing.
	AtLeast bool `json:"at_least,omitempty"`
}

// Arithmetic is the mean of figures of which one is 0, which has no logarithm:
// over the blocks' arithmetic means, its interval by t on these.
const Arithmetic = "arithmetic"

// Whole is no mean: the percentile of the times of all trials together.
const Whole = "whole"

// Summary is a metric of an arm in a cell.
type Summary struct {
	Metric string `json:"metric"`
	Unit   string `json:"unit"`
	Better string `json:"better"` // "higher", "lower" or ""
	Figure
	Median float64 `json:"median"` // of the valid trials; a look at their distribution, compared with nothing
}

// Finite keeps a number within what JSON can hold.
func Finite(x float64) float64 { return max(-math.MaxFloat64, min(x, math.MaxFloat64)) }

// An interval is shown from three blocks on, and where neither end is more than
// tenfold away: a wider one says that nothing is known.
const (
	leastShown = 3
	mostApart  = 10
)

// Known tells whether a ratio or a positive figure with its interval, over so many
// blocks, is shown as one.
func Known(blocks int, value, low, high float64) bool {
	return blocks >= leastShown && value <= mostApart*low && high <= mostApart*value
}

// Known tells whether the figure is shown. One or two blocks give a figure without
// an interval where no block was lost. An arithmetic mean may have 0 in its interval, and
// a percentile of all times is one whatever its interval.
func (f Figure) Known() bool {
	switch {
	case f.Mean == Whole:
		return true
	case f.N < leastShown:
		return f.Of <= f.N
	case f.Mean == Arithmetic:
		return true
	}
	return Known(f.N, f.Value, f.Low, f.High)
}

// Sure tells whether the figure is shown with its interval.
func (f Figure) Sure() bool {
	return f.N >= leastShown && f.Known() && (f.Mean != Whole || Known(f.N, f.Value, f.Low, f.High))
}

// Unknown is what stands in the place of a figure that is not shown.
const Unknown = "unknown"

// WhyUnknown says why a figure is not shown: how many blocks have the figure, of the
// blocks that have run.
func WhyUnknown(blocks, of int) string {
	if blocks >= leastShown {
		return fmt.Sprintf("wider than 10×, %d of %d blocks usable", blocks, max(blocks, of))
	}
	return fmt.Sprintf("%d of %d blocks usable", blocks, max(blocks, of))
}

// BlocksOf counts the blocks in which all of some arms ran in a cell.
func (s *Dataset) BlocksOf(cell string, arms ...string) int {
	common := blocksRun(s.Of(cell, arms[0]))
	for _, arm := range arms[1:] {
		other := blocksRun(s.Of(cell, arm))
		common = slices.DeleteFunc(common, func(block int) bool {
			_, ran := slices.BinarySearch(other, block)
			return !ran
		})
	}
	return len(common)
}

// blocksRun returns the blocks in which an arm's trials ran, rising.
func blocksRun(judged []*trial.Judged) []int {
	blocks := make([]int, 0, len(judged))
	for _, v := range judged {
		if v.Record != nil && v.Trial.Status != trial.StatusWarmUp {
			blocks = append(blocks, v.Plan.Block)
		}
	}
	slices.Sort(blocks)
	return slices.Compact(blocks)
}

// Summarize is a metric of an arm by its trials; false when none has it.
func Summarize(m metric.Metric, judged []*trial.Judged) (Summary, bool) {
	sum, ok := SummaryOf(m, PoolWithErrors(Each(judged), m.Name))
	sum.Of = len(blocksRun(judged))
	return sum, ok
}

// SummaryOf sums up the figures of a metric; false when there are none.
func SummaryOf(m metric.Metric, p *Pool) (Summary, bool) {
	f, ok := p.Figure()
	if !ok {
		return Summary{}, false
	}
	sum := Summary{Metric: m.Name, Unit: m.Unit, Better: m.Better, Figure: f}
	if own := p.values(); len(own) > 0 {
		sum.Median = stat.Median(own)
	}
	return sum, true
}

// Summary returns a metric of the arm; false when it has none.
func (a Arm) Summary(name string) (Summary, bool) {
	for _, s := range a.Metrics {
		if s.Metric == name {
			return s, true
		}
	}
	return Summary{}, false
}
