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

// exactFlips walks a Gray code, so that each assignment differs from the one
// before by one sign. The last sign stays: the other half mirrors this one.
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
