package search

import (
	"cmp"
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

// field is who runs, what decides, and how long the race may go on.
type field struct {
	spec    record.Race
	runners []*runner // the baseline among them
	margin  float64   // a gain below it is none
	better  string    // the metric's direction
	block   int       // that is decided about
	blocks  int       // of the plan
	rest    int       // trials that there is still time for, the confirmation's included
}

// leastShare is the share of a bound that stands for a figure of 0, which has no logarithm.
const leastShare = 1e-3

// gather takes the race's figures from a dataset: of the blocks before one that are no part
// of the confirmation.
func gather(s *cells.Dataset, block int) field {
	spec := *s.Kind.Race
	f := field{spec: spec, margin: compare.Margin(s.Compare), better: metric.Shown(spec.Best).Better, block: block, blocks: s.Blocks, rest: remaining(s, block)}
	confirms := confirming(s.Decided)
	byName := map[string]*runner{}
	for _, name := range s.Arms {
		r := &runner{name: name, base: name == s.Compare.Baseline, pace: map[int]float64{}}
		f.runners, byName[name] = append(f.runners, r), r
	}
	raced := func(v *trial.Judged) bool { return v.Plan.Block < block && !confirms[v.Plan.Block] }
	for _, v := range s.Trials {
		if raced(v) {
			byName[v.Plan.Arm].takeTrial(v, spec.Best, f.better)
		}
	}
	for _, r := range f.runners {
		for _, b := range spec.Within {
			r.excess = append(r.excess, excessOf(pooled(s, r.name, b.Metric, raced), b))
		}
	}
	return f
}

// takeTrial enters a trial.
func (r *runner) takeTrial(v *trial.Judged, name, better string) {
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
	if x, ok := v.Trial.Values.Of(name); ok && cells.Usable(x) {
		r.pace[v.Plan.Block] = toward(better, math.Log(x))
	}
}

// excessOf is by how much a bound is exceeded in each block. That of a percentile is what
// the block adds to the one of all blocks, so that a pause in one of them counts in full.
func excessOf(p *cells.Pool, b record.Bound) map[int]float64 {
	excess := map[int]float64{}
	for _, block := range p.Rising() {
		of := p.Of(block)
		over := math.Log(max(of[len(of)-1]/b.Value, leastShare))
		if b.AtLeast {
			over = -over
		}
		excess[block] = over
	}
	return excess
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

func (f field) baseline() *runner { return f.runner(func(r *runner) bool { return r.base }) }

// runner is the first for which something holds; nil for none.
func (f field) runner(is func(*runner) bool) *runner {
	if i := slices.IndexFunc(f.runners, is); i >= 0 {
		return f.runners[i]
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

// mostFailed is how often an arm may fail before it is left out.
const mostFailed = 2

// fate is what is known of a runner after a block, and why, as a sentence's end.
type fate struct {
	Fate
	why string
}

// standing is a race after a block.
type standing struct {
	fates  map[string]fate
	levels map[string]float64 // of the arms' paces
	leader *runner            // the best of those that may keep the bounds; nil for none
	close  bool               // nobody else can be better by more than the margin
	plain  bool               // the baseline stayed, and the leader cannot be better by more than the margin
}

// judge tells how the arms stand after so many blocks. Arms that were left out earlier
// have no fate; their figures still count in the noise.
//
// Every one-sided test has its own part of ErrorRate: a race with k arms has k − 1 tests
// that could leave out its best arm, which share the error rate equally, and a look after
// each block. The look after n blocks has the part 6/π²(n−1)², and all looks together have
// 1: with 5 arms, each test after block 2 has 0.05 · 0.61 / 4, after block 3 a quarter of
// that level. So the best arm that keeps the bounds is left out with a probability of
// ErrorRate at most, however long the race goes on, where the noise of all arms is normal
// and the same.
func (f field) judge(blocks int) standing {
	levels, noise := f.paces()
	s := standing{fates: map[string]fate{}, levels: levels}
	level := levelAfter(blocks) / float64(max(1, len(f.runners)-1))
	var alive, keepers []*runner
	for _, r := range f.runners {
		switch state := f.kept(r, level); {
		case r.last < blocks: // left out earlier
		case r.breaks():
			s.fates[r.name] = fate{Fell, "has no trials that count: " + r.reason}
		case state < 0:
			s.fates[r.name] = fate{Broken, "breaks a bound"}
		default:
			alive = append(alive, r)
			if state > 0 {
				keepers = append(keepers, r)
			}
		}
	}
	for _, r := range alive {
		s.fates[r.name] = fate{Fate: Stayed}
		var by *runner
		for _, other := range keepers {
			if mean, variances, ok := ahead(other, r); ok && mean > noise.reach(level, variances) && (by == nil || levels[other.name] > levels[by.name]) {
				by = other
				s.fates[r.name] = fate{Slower, "is worse than " + other.name}
			}
		}
		if within(r) && len(r.pace) > 0 && (s.leader == nil || levels[r.name] > levels[s.leader.name]) {
			s.leader = r
		}
	}
	if s.leader == nil {
		return s
	}
	beyond := func(r, other *runner) bool { // whether one may be better than another by more than the margin
		mean, variances, ok := ahead(r, other)
		return !ok || mean+noise.reach(level, variances) >= math.Log1p(f.margin)
	}
	s.close = !slices.ContainsFunc(alive, func(r *runner) bool {
		return r != s.leader && s.fates[r.name].Fate == Stayed && beyond(r, s.leader)
	})
	if base := f.baseline(); base != nil && s.fates[base.name].Fate == Stayed && within(base) {
		s.plain = s.leader == base || !beyond(s.leader, base)
	}
	return s
}

// breaks tells whether an arm does not do the work: its trials failed twice, or none of
// two or more is valid.
func (r *runner) breaks() bool {
	return r.failed >= mostFailed || r.invalid >= mostFailed && len(r.pace) == 0
}

// rank orders arms that have figures: those that keep the bounds before others, each the
// faster first.
func (s standing) rank(a, b *runner) int {
	switch kept := within(a); {
	case kept != within(b) && kept:
		return -1
	case kept != within(b):
		return 1
	}
	return cmp.Compare(s.levels[b.name], s.levels[a.name])
}

// ErrorRate is the probability with which a whole race may leave out its best arm, or
// end with a winner that another exceeds by more than the margin.
const ErrorRate = 0.05

// levelAfter is the part of ErrorRate that is spent after a number of blocks.
func levelAfter(blocks int) float64 {
	if blocks < 2 {
		return 0
	}
	n := float64(blocks - 1)
	return ErrorRate * 6 / (math.Pi * math.Pi * n * n)
}

// ahead is by how much a is ahead of b, over the blocks that both have, and the
// variances of one trial that this mean has.
func ahead(a, b *runner) (mean, variances float64, ok bool) {
	var differences []float64
	for block, x := range a.pace {
		if y, both := b.pace[block]; both {
			differences = append(differences, x-y)
		}
	}
	return stat.Mean(differences), 2 / float64(len(differences)), len(differences) > 0
}

// kept tells whether an arm breaks a bound (−1), keeps all of them (1), or cannot be
// told yet (0).
func (f field) kept(r *runner, level float64) int {
	state := 1
	for i, excess := range r.excess {
		xs := cells.InOrder(excess)
		if len(xs) == 0 {
			state = 0
			continue
		}
		reach := f.scatter(i).reach(level/float64(len(f.spec.Within)), 1/float64(len(xs)))
		switch mean := stat.Mean(xs); {
		case mean-reach > 0:
			return -1
		case mean+reach > 0:
			state = 0
		}
	}
	return state
}

// within tells whether an arm's mean figures keep the bounds.
func within(r *runner) bool {
	for _, excess := range r.excess {
		if xs := cells.InOrder(excess); len(xs) == 0 || stat.Mean(xs) > 0 {
			return false
		}
	}
	return true
}
