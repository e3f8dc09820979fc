package race

import (
	"cmp"
	"math"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// mostFailed is how often an arm may fail before it is left out.
const mostFailed = 2

// fate is what is known of a runner after a block.
type fate struct {
	Fate
	by string // of one that is slower
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
			s.fates[r.name] = fate{Fate: Fell}
		case state < 0:
			s.fates[r.name] = fate{Fate: Broken}
		default:
			alive = append(alive, r)
			if state > 0 {
				keepers = append(keepers, r)
			}
		}
	}
	for _, r := range alive {
		s.fates[r.name] = fate{Fate: Stayed}
		for _, other := range keepers {
			if mean, variances, ok := ahead(other, r); ok && mean > noise.reach(level, variances) && (s.fates[r.name].by == "" || levels[other.name] > levels[s.fates[r.name].by]) {
				s.fates[r.name] = fate{Fate: Slower, by: other.name}
			}
		}
		if within(r) && len(r.pace) > 0 && (s.leader == nil || levels[r.name] > levels[s.leader.name]) {
			s.leader = r
		}
	}
	if s.leader == nil {
		return s
	}
	s.close = true
	for _, r := range alive {
		if r == s.leader || s.fates[r.name].Fate == Slower {
			continue
		}
		mean, variances, ok := ahead(r, s.leader)
		s.close = s.close && ok && mean+noise.reach(level, variances) < math.Log1p(f.margin)
	}
	if base := f.baseline(); base != nil && s.fates[base.name].Fate == Stayed && within(base) {
		mean, variances, ok := ahead(s.leader, base)
		s.plain = s.leader == base || ok && mean+noise.reach(level, variances) < math.Log1p(f.margin)
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
func (s standing) rank(f field, a, b string) int {
	place := func(name string) (kept int, pace float64) {
		for _, r := range f.runners {
			if r.name == name && len(r.pace) > 0 {
				return -oneIf(within(r)), -s.levels[name]
			}
		}
		return 1, 0
	}
	keptA, paceA := place(a)
	keptB, paceB := place(b)
	return cmp.Or(cmp.Compare(keptA, keptB), cmp.Compare(paceA, paceB))
}

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
		reach := f.scatter(i).reach(level/float64(f.bounds), 1/float64(len(xs)))
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
