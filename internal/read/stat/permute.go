package stat

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
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

// furtherShare of the level is kept for looks to which a run goes on only when it is told
// to: most runs end by themselves, with nearly the whole level.
const furtherShare = 1. / 10

// LookLevels shares a significance level out over the looks that a sequential study takes
// at its blocks, whose numbers rise: by itself up to own blocks, at those beyond when it is
// told to. The levels sum to at most alpha, so the chance of any false difference over all
// looks is at most alpha, whatever joins the looks, whatever test is held to them and
// wherever the study ends. A look has the part of its level that its new blocks are of all
// that are left, so the last has most; the looks beyond own share a tenth of alpha so. A
// look has at least the least p that a sign flip of its blocks can give, without which it
// could never decide. One that cannot be given its least p has level 0, decides nothing,
// and leaves its part to those after it. Nil for no looks.
//
// Source: Gordon Lan and D. DeMets, Discrete sequential boundaries for clinical
// trials, Biometrika 1983, the linear spending function of section 3; summed, not joined.
func LookLevels(blocks []int, own int, alpha float64) []float64 {
	if len(blocks) == 0 {
		return nil
	}
	levels := make([]float64, 0, len(blocks))
	beyond := slices.IndexFunc(blocks, func(n int) bool { return n > own })
	if beyond > 0 {
		levels = spend(levels, blocks[:beyond], 0, alpha*(1-furtherShare))
		if last := beyond - 1; levels[last] < MinP(blocks[last]) {
			levels[last] = 0
		}
		for _, level := range levels {
			alpha -= level
		}
		return spend(levels, blocks[beyond:], own, alpha)
	}
	return spend(levels, blocks, 0, alpha)
}

// spend appends the levels of looks that share left, of which the one before was at from.
func spend(levels []float64, blocks []int, from int, left float64) []float64 {
	last := blocks[len(blocks)-1]
	for _, n := range blocks {
		part := max(left*float64(n-from)/float64(last-from), MinP(n))
		if n < last {
			part = min(part, left-MinP(last)) // the last look must be able to decide, too
		} else {
			part = left
		}
		if n < last && part < MinP(n) {
			levels = append(levels, 0)
			continue
		}
		levels, left, from = append(levels, part), left-part, n
	}
	return levels
}

// Settles tells whether an interval of confidence 1 − level around mean, of n
// values with standard deviation sd, is expected to settle a question about
// bounds, and n to be enough for the level (MinP). Mean and sd are on the log scale.
func Settles(mean, sd float64, bounds Bounds, n int, level float64) bool {
	return MinP(n) <= level && bounds.settle(mean, sd, n, level)
}
