package race

import (
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// Replay is a race over figures that are known beforehand, such as those of a recorded
// study of every arm: what the race would have run, and what it would have said.
type Replay struct {
	Arms     []string
	Baseline string
	Race     record.Race // without bounds and time
	Margin   float64
	Blocks   int                                 // at most, the confirmation's included
	Figure   func(arm string, block int) float64 // 0 where the trial is not valid
}

// Result is how a replayed race ended.
type Result struct {
	Winner      string // of the race; "" where the baseline stayed from the start
	Recommended string // the winner where fresh blocks show it better, else the baseline
	Raced       int    // trials of the race
	Trials      int    // the confirmation's included
}

// Run carries the race out.
func (p Replay) Run() Result {
	m, _ := metric.Named(p.Race.Best) // one of the registry, or nothing is better than anything
	f := field{margin: p.Margin, better: m.Better}
	for _, name := range p.Arms {
		f.runners = append(f.runners, &runner{name: name, base: name == p.Baseline, pace: map[int]float64{}})
	}
	r := Result{Recommended: p.Baseline}
	running := slices.Clone(p.Arms)
	for block := 1; ; block++ {
		for _, one := range f.runners {
			if one.base || slices.Contains(running, one.name) {
				r.Raced++
				one.last = block
				if x := p.Figure(one.name, block); cells.Usable(x) {
					one.pace[block] = toward(m.Better, math.Log(x))
				} else {
					one.invalid++
				}
			}
		}
		c := f.nextCourse(f.judge(block), p.Race, limits{block: block + 1, blocks: p.Blocks, rest: p.rest(r.Raced), scarce: ofTrials})
		if running = c.run; c.racing {
			continue
		}
		r.Trials = r.Raced
		if c.winner != "" {
			r.Winner = c.winner
			better, blocks := p.confirm(m, c.winner, block, r.Raced)
			r.Trials += 2 * blocks
			if better {
				r.Recommended = c.winner
			}
		}
		return r
	}
}

// rest is how many trials may follow so many.
func (p Replay) rest(taken int) int {
	if p.Race.Trials == 0 {
		return unbounded
	}
	return p.Race.Trials - taken
}

// confirm compares the winner with the baseline by the blocks after one, and tells how many
// those are: see confirmation.
func (p Replay) confirm(m metric.Metric, winner string, after, raced int) (better bool, blocks int) {
	var fresh, base cells.Pool
	complete := 0
	more := func(block int) bool {
		return complete < p.Race.Confirm && blocks < 2*p.Race.Confirm && block <= p.Blocks && p.rest(raced+2*blocks) >= 2
	}
	for block := after + 1; blocks < p.Race.Confirm || more(block); block++ {
		blocks++
		x, y := p.Figure(winner, block), p.Figure(p.Baseline, block)
		if cells.Usable(x) && cells.Usable(y) {
			complete++
			fresh.Add(block, x)
			base.Add(block, y)
		}
	}
	b := compare.Between(m, compare.Divide(&fresh, &base), p.Margin)
	return b.Verdict == compare.Better, blocks
}
