package stat

import (
	"math"
)

// firstShare of the level goes to the first look that can decide: of 0.05 it is
// 1/32, the least p of six blocks.
const firstShare = 5. / 8

// StageLevels shares a significance level out over the looks that a sequential
// study takes at its blocks, whose numbers rise. The levels sum to at most
// alpha, so the chance of any false difference over all looks is at most alpha,
// whatever joins the looks, whatever test is held to them and wherever the study
// ends. The first look that can decide gets five eighths, because most studies
// end there; the others share the rest evenly. A look gets at least the least p
// that a sign flip of its blocks can give, without which it could never decide; a
// level between two p that are possible is rounded down, and what is left goes
// to later looks, the rest to the last. A look that cannot be given its least p
// has level 0: it decides nothing. Nil for no looks.
//
// Source: E. Slud and L. J. Wei, Two-sample repeated significance tests based on
// the modified Wilcoxon statistic, JASA 1982, which divides a level among looks
// beforehand; Gordon Lan and D. DeMets, Discrete sequential boundaries for
// clinical trials, Biometrika 1983.
func StageLevels(blocks []int, alpha float64) []float64 {
	if len(blocks) == 0 {
		return nil
	}
	levels := make([]float64, len(blocks))
	last := len(blocks) - 1
	left, first := alpha, true
	for k, n := range blocks[:last] {
		least := MinP(n)
		part := left / float64(len(blocks)-k)
		if first {
			part = alpha * firstShare
		}
		// The last look must be able to decide, too.
		part = min(max(part, least), left-MinP(blocks[last]))
		if part >= least {
			levels[k], first = math.Floor(part/least*(1+1e-12))*least, false
		}
		left -= levels[k]
	}
	levels[last] = left
	return levels
}

// Settles tells whether an interval of confidence 1 − level around mean, of n
// values with standard deviation sd, is expected to settle a question about
// bounds, and n to be enough for the level (MinP). Mean and sd are on the log scale.
func Settles(mean, sd float64, bounds Bounds, n int, level float64) bool {
	return MinP(n) <= level && bounds.settle(mean, sd, n, level)
}
