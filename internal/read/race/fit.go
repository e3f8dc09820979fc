package race

import (
	"math"

	"netdyno/internal/read/stat"
)

// noise is the standard deviation of one trial's logarithm beside its arm and block,
// over all arms that run or ran, and its degrees of freedom; 0 degrees when nothing is
// known of it yet.
type noise struct{ sd, degrees float64 }

// sweepsOfFit bounds the fit, which ends when nothing moves any more.
const (
	sweepsOfFit = 200
	still       = 1e-12
)

// paces fits every arm's level and every block's to the figures by least squares, and
// returns the arms' levels by name: what an arm would do in the average block, whichever
// of the blocks it ran in.
func (f field) paces() (levels map[string]float64, n noise) {
	levels, blocks := map[string]float64{}, map[int]float64{}
	figures := 0
	for _, r := range f.runners {
		for block := range r.pace {
			levels[r.name], blocks[block] = 0, 0
			figures++
		}
	}
	for range sweepsOfFit {
		moved := 0.0
		sums, counts := map[int]float64{}, map[int]float64{}
		for _, r := range f.runners {
			for block, x := range r.pace {
				sums[block] += x - levels[r.name]
				counts[block]++
			}
		}
		for block := range blocks {
			blocks[block] = sums[block] / counts[block]
		}
		for _, r := range f.runners {
			if len(r.pace) == 0 {
				continue
			}
			sum := 0.0
			for block, x := range r.pace {
				sum += x - blocks[block]
			}
			level := sum / float64(len(r.pace))
			moved = max(moved, math.Abs(level-levels[r.name]))
			levels[r.name] = level
		}
		if moved < still {
			break
		}
	}
	squares := 0.0
	for _, r := range f.runners {
		for block, x := range r.pace {
			squares += (x - levels[r.name] - blocks[block]) * (x - levels[r.name] - blocks[block])
		}
	}
	n.degrees = max(0, float64(figures-len(levels)-len(blocks)+1))
	if n.degrees > 0 {
		n.sd = math.Sqrt(squares / n.degrees)
	}
	return levels, n
}

// scatter is the noise of a bound's figures about their arms' means.
func (f field) scatter(bound int) noise {
	squares, degrees := 0.0, 0.0
	for _, r := range f.runners {
		xs := values(r.excess[bound])
		if len(xs) < 2 {
			continue
		}
		sd := stat.SD(xs)
		squares += sd * sd * float64(len(xs)-1)
		degrees += float64(len(xs) - 1)
	}
	if degrees == 0 {
		return noise{}
	}
	return noise{math.Sqrt(squares / degrees), degrees}
}

// reach is how far chance carries a mean at a level, one-sided: t times the standard
// error of a mean of n, or of a difference of two such; +Inf when no noise is known.
func (n noise) reach(level, variances float64) float64 {
	if n.degrees == 0 || level <= 0 {
		return math.Inf(1)
	}
	return stat.TBeyond(n.degrees, level) * n.sd * math.Sqrt(variances)
}

func values(byBlock map[int]float64) []float64 {
	xs := make([]float64, 0, len(byBlock))
	for _, x := range byBlock {
		xs = append(xs, x)
	}
	return xs
}
