package stat

import (
	"math"
	"math/bits"
	"math/rand/v2"
)

// Limits of SignFlip.
const (
	exactMax = 20      // values up to which every assignment of signs is tried
	draws    = 200_000 // random assignments above
)

// SignFlip returns the two-sided p of the sign-flip permutation test: the
// share of all 2^n assignments of signs whose absolute sum reaches that of
// xs. Ties count against the difference, zeros cannot help it, so p ≥ 2/2^n.
// Up to 20 values it is exact; above, Monte Carlo with a fixed seed, where
// the observed assignment counts as one draw. 1 when empty.
//
// Source: R. A. Fisher, The Design of Experiments, 1935, section 21; the +1
// in Phipson and Smyth, Permutation p-values should never be zero, 2010.
func SignFlip(xs []float64) float64 {
	observed, scale := 0.0, 0.0
	for _, x := range xs {
		observed += x
		scale += math.Abs(x)
	}
	// Sums are equal up to rounding when the same values meet in another order.
	reach := math.Abs(observed) - 1e-9*scale
	if math.IsNaN(reach) || reach <= 0 {
		return 1
	}
	if len(xs) <= exactMax {
		return exactFlips(xs, reach)
	}
	return randomFlips(xs, reach)
}

// MinP returns the least p that SignFlip can give for n values.
func MinP(n int) float64 {
	if n > exactMax {
		return 1.0 / (draws + 1)
	}
	return math.Min(1, math.Ldexp(2, -n))
}

// exactFlips walks a Gray code, so that each assignment of signs differs from the one
// before by one sign. The last sign is never flipped: the other half of the assignments
// are the mirror images of these, +−− of −++.
func exactFlips(xs []float64, reach float64) float64 {
	sum := 0.0
	for _, x := range xs {
		sum += x
	}
	negative := make([]bool, len(xs))
	total := 1 << (len(xs) - 1)
	count := 0
	for step := 1; ; step++ {
		if math.Abs(sum) >= reach {
			count++
		}
		if step == total {
			return float64(count) / float64(total)
		}
		i := bits.TrailingZeros(uint(step))
		if negative[i] {
			sum += 2 * xs[i]
		} else {
			sum -= 2 * xs[i]
		}
		negative[i] = !negative[i]
	}
}

// randomFlips draws the signs of 64 values at a time, a bit for each, and looks
// the sum of eight values up by the eight bits of their signs.
func randomFlips(xs []float64, reach float64) float64 {
	sums := sumsOfEight(xs)
	rng := rand.New(rand.NewPCG(uint64(len(xs)), 0x666c6970))
	count := 1
	for range draws {
		sum, word := 0.0, uint64(0)
		for i := range sums {
			if i%8 == 0 {
				word = rng.Uint64()
			}
			sum += sums[i][byte(word)]
			word >>= 8
		}
		if math.Abs(sum) >= reach {
			count++
		}
	}
	return float64(count) / (draws + 1)
}

// sumsOfEight returns, for each eight values in turn, their sum under each of the
// 256 assignments of signs: bit i set means that value i is subtracted.
func sumsOfEight(xs []float64) [][256]float64 {
	sums := make([][256]float64, (len(xs)+7)/8)
	for i := range sums {
		eight := xs[8*i : min(8*i+8, len(xs))]
		for signs := range sums[i] {
			for bit, x := range eight {
				if signs>>bit&1 == 0 {
					sums[i][signs] += x
				} else {
					sums[i][signs] -= x
				}
			}
		}
	}
	return sums
}

// firstShare of the level goes to the first look that can decide: of 0.05 it is
// 1/32, the least p of six blocks.
const firstShare = 5. / 8

// LookLevels shares a significance level out over the looks that a sequential
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
func LookLevels(blocks []int, alpha float64) []float64 {
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
