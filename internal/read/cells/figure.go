package cells

import "math"

// Usable tells whether x can be divided by and drawn on a log scale.
func Usable(x float64) bool { return x > 0 && !math.IsInf(x, 1) && !math.IsNaN(x) }

// Figure is a metric over the blocks of some trials. A block's value is the
// geometric mean of its valid trials, Value that of the blocks: the ratio of two
// figures over the same blocks is their quotient.
type Figure struct {
	N      int     `json:"n"`            // blocks with a valid trial
	Of     int     `json:"of,omitempty"` // blocks that have run, where that is counted
	Trials int     `json:"trials"`       // valid, in all blocks
	Value  float64 `json:"value"`
	Mean   string  `json:"mean,omitempty"` // Arithmetic; "" is the geometric mean
	Low    float64 `json:"low"`            // 95 % interval of Value by Student's t over blocks; equal to Value when N < 2
	High   float64 `json:"high"`

	// Value is a lower bound, because in one of the trials exchanges that were left
	// unfinished would raise the figure. Low is one too, and High says nothing.
	AtLeast bool `json:"at_least,omitempty"`
}

// Arithmetic is the mean of figures of which one is 0, which has no logarithm:
// over the blocks' arithmetic means, its interval by t on these.
const Arithmetic = "arithmetic"

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
