package stat

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"
)

// StageLevels shares a significance level out over the looks that a sequential
// study takes at its blocks, whose numbers rise. The levels sum to at most
// alpha, so the chance of any false difference over all looks is at most alpha,
// whatever joins the looks and whatever test is held to them. A look gets its
// part of what is left by the blocks that it adds, but at least the least p that
// a sign flip of its blocks can give, without which it could never decide; a
// level between two p that are possible is rounded down, and what is left goes
// to later looks, the rest to the last. A look that cannot be given its least p
// has level 0: it decides nothing. Nil for no looks.
//
// Source: the spending of Gordon Lan and D. DeMets, Discrete sequential
// boundaries for clinical trials, Biometrika 1983, with the linear function of
// K. Kim and D. DeMets, 1987; E. Slud and L. J. Wei, Two-sample
// repeated significance tests based on the modified Wilcoxon statistic, JASA
// 1982, for spending by exact tests.
func StageLevels(blocks []int, alpha float64) []float64 {
	if len(blocks) == 0 {
		return nil
	}
	levels := make([]float64, len(blocks))
	last := len(blocks) - 1
	left, from := alpha, 0
	for k, n := range blocks[:last] {
		least := MinP(n)
		part := left * float64(n-from) / float64(blocks[last]-from)
		// The last look must be able to decide, too.
		part = min(max(part, least), left-MinP(blocks[last]))
		if part >= least {
			levels[k] = math.Floor(part/least*(1+1e-12)) * least
		}
		left -= levels[k]
		from = n
	}
	levels[last] = left
	return levels
}

// GeometricMeanAt is GeometricMean with an interval of confidence 1 − level.
func GeometricMeanAt(ratios []float64, level float64) (Estimate, bool) {
	logs, ok := Logs(ratios)
	if !ok {
		return Estimate{}, false
	}
	e, ok := MeanAt(logs, level)
	return Estimate{math.Exp(e.Point), math.Exp(e.Low), math.Exp(e.High)}, ok
}

// MeanAt returns the arithmetic mean with its t interval of confidence 1 − level;
// false for fewer than two values.
func MeanAt(xs []float64, level float64) (Estimate, bool) {
	if len(xs) < 2 {
		return Estimate{}, false
	}
	n := float64(len(xs))
	t := distuv.StudentsT{Sigma: 1, Nu: n - 1}.Quantile(1 - level/2)
	m, half := Mean(xs), t*SD(xs)/math.Sqrt(n)
	return Estimate{m, m - half, m + half}, true
}
