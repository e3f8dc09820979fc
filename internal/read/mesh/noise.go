package mesh

import (
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// noise is how far a pair's blocks lie apart, which is what nothing about the pair
// explains.
type noise struct {
	sd     float64   // robust, over all pairs
	ofHost []float64 // the same over the pairs of each host; a host may be noisier than the others
	tails  []float64 // how far every trial lies from the middle of its pair, rising
}

// toSD makes the standard deviation of a normal distribution of the median absolute
// deviation. Source: F. R. Hampel, The influence curve and its role in robust
// estimation, 1974.
const toSD = 1.4826

// noiseOf measures the noise of a centred grid. It is 0 when no pair has two blocks.
func noiseOf(g *Grid) noise {
	n := noise{ofHost: make([]float64, g.Hosts)}
	var all []float64
	byHost := make([][]float64, g.Hosts)
	for i := range g.Hosts {
		for j := range g.Hosts {
			values := g.blocksOf(i, j)
			if len(values) < 2 {
				continue
			}
			mean, blocks := 0.0, float64(len(values))
			for _, x := range values {
				mean += x / blocks
			}
			for _, x := range values {
				d := math.Abs(x-mean) * math.Sqrt(blocks/(blocks-1))
				all, byHost[i], byHost[j] = append(all, d), append(byHost[i], d), append(byHost[j], d)
			}
			n.tails = append(n.tails, fromMiddle(values)...)
		}
	}
	if len(all) == 0 {
		return n
	}
	slices.Sort(n.tails)
	n.sd = toSD * stat.Median(all)
	for i, own := range byHost {
		n.ofHost[i] = n.sd
		if len(own) > 0 {
			n.ofHost[i] = max(n.sd, toSD*stat.Median(own))
		}
	}
	return n
}

// fromMiddle returns how far blocks lie from their median. Of two blocks one is the
// disturbed one, and nothing tells which: it gets all of the difference.
func fromMiddle(values []float64) []float64 {
	if len(values) == 2 {
		return []float64{0, math.Abs(values[0] - values[1])}
	}
	middle := stat.Median(values)
	out := make([]float64, len(values))
	for i, x := range values {
		out[i] = math.Abs(x - middle)
	}
	return out
}

// beyond returns the bound that the noise of one trial of these hosts exceeds, to one
// side, with a probability of q. Where the trials themselves have a longer tail than a
// normal distribution, their tail decides, and all of it is taken to lie on the slow side:
// disturbances slow a machine.
func (n noise) beyond(q float64, hosts ...int) float64 {
	scale := 1.0
	for _, h := range hosts {
		if n.sd > 0 {
			scale = max(scale, n.ofHost[h]/n.sd)
		}
	}
	return scale * max(stat.NormalBeyond(q)*n.sd, n.tail(q))
}

// tail returns the distance from the middle of its pair that a share of the trials
// exceeds.
func (n noise) tail(share float64) float64 {
	if len(n.tails) == 0 {
		return 0
	}
	at := (1 - share) * float64(len(n.tails)-1)
	below := min(int(at), len(n.tails)-1)
	next := min(below+1, len(n.tails)-1)
	return n.tails[below] + (at-float64(below))*(n.tails[next]-n.tails[below])
}

// settled returns the middle value of blocks, of an even number the one of the two
// middle ones that is nearer to 0, or 0 between two signs: more than half of the
// blocks lie as far out. NaN when there is none.
func settled(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(values))
	switch low, high := sorted[(n-1)/2], sorted[n/2]; {
	case low > 0:
		return low
	case high < 0:
		return high
	}
	return 0
}

// tailOf returns the probability q with which one block exceeds a bound when more than
// half of n blocks exceed the bound with a probability of p. Chance must repeat itself, so
// q is far above p: with p = 0.001 and n = 5, two blocks may be off by chance and three
// must be, and q is 0.048.
func tailOf(p float64, n int) float64 {
	low, high := 0.0, 0.5
	for range 60 { // a double's bits
		q := (low + high) / 2
		if moreThanHalf(q, n) > p {
			high = q
		} else {
			low = q
		}
	}
	return low
}

// moreThanHalf is the probability that of n independent events of probability q more
// than half occur.
func moreThanHalf(q float64, n int) float64 {
	sum := 0.0
	for k := n/2 + 1; k <= n; k++ {
		logs := logFactorial(n) - logFactorial(k) - logFactorial(n-k) + float64(k)*math.Log(q) + float64(n-k)*math.Log1p(-q)
		sum += math.Exp(logs)
	}
	return sum
}

func logFactorial(n int) float64 {
	x, _ := math.Lgamma(float64(n) + 1)
	return x
}
