package cells

import (
	"fmt"

	"netdyno/internal/read/trial"
)

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
// an interval where no block was lost. An arithmetic mean may have 0 in its interval.
func (f Figure) Known() bool {
	switch {
	case f.N < leastShown:
		return f.Of <= f.N
	case f.Mean == Arithmetic:
		return true
	}
	return Known(f.N, f.Value, f.Low, f.High)
}

// Sure tells whether the figure is shown with its interval.
func (f Figure) Sure() bool { return f.N >= leastShown && f.Known() }

// Unknown is what stands in the place of a figure that is not shown.
const Unknown = "unknown"

// WhyUnknown says why a figure is not shown that so many blocks have, of those that
// have run.
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
		for block := range common {
			if !other[block] {
				delete(common, block)
			}
		}
	}
	return len(common)
}

func blocksRun(judged []*trial.Judged) map[int]bool {
	blocks := map[int]bool{}
	for _, v := range judged {
		if v.Record != nil {
			blocks[v.Plan.Block] = true
		}
	}
	return blocks
}
