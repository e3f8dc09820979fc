package race

import (
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// runner is an arm in a race with its figures by block.
type runner struct {
	name    string
	base    bool
	pace    map[int]float64   // logarithm of the metric, or of its inverse: more is better
	excess  []map[int]float64 // of each bound, the logarithm of how far it is exceeded; up to 0 keeps it
	last    int               // block in which it was planned last
	failed  int               // trials that failed or could not be
	invalid int               // trials without a valid figure, those included
	reason  string            // of the last of them
}

// field is who runs, and when a difference counts.
type field struct {
	runners []*runner // the baseline among them
	margin  float64   // a gain below it is none
	bounds  int
	better  string // the metric's direction
}

// floor is the share of a bound that stands for a figure of 0, which has no logarithm.
const floor = 1e-3

// gather takes the race's figures from a dataset: of the blocks before block until that
// are no part of the confirmation.
func gather(s *cells.Dataset, spec record.Race, until int) field {
	m, _ := metric.Named(spec.Best) // an unknown one has no figures
	f := field{margin: compare.Margin(s.Header.Study.Compare), bounds: len(spec.Within), better: m.Better}
	confirms := confirming(s.Header.Allocations)
	for _, name := range s.Arms {
		f.runners = append(f.runners, &runner{
			name: name, base: name == s.Header.Study.Compare.Baseline, pace: map[int]float64{}, excess: make([]map[int]float64, len(spec.Within)),
		})
	}
	for _, v := range s.Trials {
		if v.Plan.Block >= until || confirms[v.Plan.Block] {
			continue
		}
		i := slices.IndexFunc(f.runners, func(r *runner) bool { return r.name == v.Plan.Arm })
		f.runners[i].takeTrial(v, m, spec.Within)
	}
	return f
}

// takeTrial enters a trial.
func (r *runner) takeTrial(v *trial.Judged, m metric.Metric, bounds []record.Bound) {
	r.last = max(r.last, v.Plan.Block)
	if v.Record != nil && v.Record.Outcome != record.OK {
		r.failed++
	}
	if v.Record != nil && v.Trial.Status != trial.Valid {
		r.invalid, r.reason = r.invalid+1, v.Trial.Reason
	}
	if v.Trial.Status != trial.Valid {
		return
	}
	if x, ok := v.Trial.Values.Of(m.Name); ok && cells.Usable(x) {
		r.pace[v.Plan.Block] = toward(m.Better, math.Log(x))
	}
	for i, b := range bounds {
		x, ok := v.Trial.Values.Of(b.Metric)
		if !ok || math.IsNaN(x) || math.IsInf(x, 0) {
			continue
		}
		if r.excess[i] == nil {
			r.excess[i] = map[int]float64{}
		}
		over := math.Log(max(x/b.Value, floor))
		if b.AtLeast {
			over = -over
		}
		r.excess[i][v.Plan.Block] = over
	}
}

// toward turns a logarithm so that more is better.
func toward(better string, log float64) float64 {
	if better == metric.Lower {
		return -log
	}
	return log
}

// confirming returns the blocks that compare the winner with the baseline.
func confirming(decided []record.Allocation) map[int]bool {
	blocks := map[int]bool{}
	for _, a := range decided {
		if a.Confirms != "" {
			blocks[a.Block] = true
		}
	}
	return blocks
}

func (f field) baseline() *runner {
	for _, r := range f.runners {
		if r.base {
			return r
		}
	}
	return nil
}

// noise is the standard deviation of one trial's logarithm beside its arm and block,
// over all arms that run or ran, and its degrees of freedom; 0 degrees while no noise is
// known.
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
		xs := cells.InOrder(r.excess[bound])
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
