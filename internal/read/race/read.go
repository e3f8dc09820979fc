package race

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// costs are what a gain is paid with, where the trials have it.
var costs = []string{metric.OfServer + metric.CPUPerExchange, metric.OfClient + metric.CPUPerExchange, metric.OfServer + metric.RSS, metric.OfClient + metric.RSS}

// Read tells what a race found; nil for a study that is none, or whose metric is not in
// the registry.
func Read(s *cells.Dataset) *Race {
	spec := s.Header.Study.Race
	if spec == nil {
		return nil
	}
	m, err := metric.Named(spec.Best)
	if err != nil {
		return nil
	}
	confirms := confirming(s.Header.Allocations)
	block := raced(s, confirms)
	f := gather(s, *spec, block+1)
	r := &Race{
		Spec: *spec, Baseline: s.Header.Study.Compare.Baseline, Margin: f.margin, Unit: m.Unit,
		Blocks: block, Exhaustive: s.Header.Study.Blocks * len(s.Arms), Options: f.options(s),
	}
	r.Candidates = f.candidates(block)
	for _, v := range s.Trials {
		r.Trials += oneIf(v.Record != nil)
	}
	st := f.judge(block)
	c := f.nextCourse(st, *spec, limitsOf(s, *spec, block+1))
	for _, a := range s.Header.Allocations {
		if a.Confirms != "" {
			r.Winner = a.Confirms
		}
	}
	r.Ended, r.Sure = c.ended, st.close
	if r.Winner == "" && st.leader != nil && c.ended != "" {
		r.Winner = st.leader.name
	}
	r.conclude(s, f, st)
	if r.Recommended != "" && r.Recommended != r.Baseline {
		r.Settings = settings(s, r.Recommended, r.Baseline)
	}
	r.Sentences = r.sentences()
	return r
}

// raced is the last block of the race of which a trial has its record.
func raced(s *cells.Dataset, confirms map[int]bool) int {
	last := 0
	for _, v := range s.Trials {
		if v.Record != nil && !confirms[v.Plan.Block] {
			last = max(last, v.Plan.Block)
		}
	}
	return last
}

// candidates tells what became of every arm, by the last block in which the arm ran; last
// is the last block of the race.
func (f field) candidates(last int) []Candidate {
	_, noise := f.paces()
	base := f.baseline()
	fates := map[int]standing{}
	all := make([]Candidate, 0, len(f.runners))
	for _, r := range f.runners {
		c := Candidate{Arm: r.name, Fate: Stayed, Blocks: r.last}
		if _, judged := fates[r.last]; !judged {
			fates[r.last] = f.upTo(r.last).judge(r.last)
		}
		if fate, known := fates[r.last].fates[r.name]; known {
			c.Fate, c.By = fate.Fate, fate.by
		}
		if c.Fate == Stayed && !r.base && r.last < last {
			c.Fate = Behind
		}
		if c.Fate == Fell {
			c.Reason = r.reason
		}
		c.Figure = f.figure(r, r)
		if base != nil && !r.base {
			if c.Ratio = f.ratio(r, base, noise); c.Ratio.Point > 0 {
				c.Figure, c.BaseValue = f.figure(r, base), f.figure(base, r).Value
			}
		}
		all = append(all, c)
	}
	return all
}

// upTo is the field as it was after a block.
func (f field) upTo(block int) field {
	then := field{margin: f.margin, bounds: f.bounds, better: f.better}
	for _, r := range f.runners {
		one := *r
		one.pace, one.excess = earlier(r.pace, block), nil
		one.last = min(r.last, block)
		for _, excess := range r.excess {
			one.excess = append(one.excess, earlier(excess, block))
		}
		then.runners = append(then.runners, &one)
	}
	return then
}

func earlier(values map[int]float64, block int) map[int]float64 {
	kept := maps.Clone(values)
	maps.DeleteFunc(kept, func(b int, _ float64) bool { return b > block })
	return kept
}

// figure is an arm's over the blocks of the race that another has too.
func (f field) figure(r, with *runner) cells.Figure {
	var p cells.Pool
	for block, x := range r.pace {
		if _, both := with.pace[block]; both {
			p.Add(block, math.Exp(toward(f.better, x)))
		}
	}
	figure, _ := p.Figure()
	return figure
}

// figureOf is an arm's figure of a metric over some of its trials.
func figureOf(s *cells.Dataset, arm, name string, of func(*trial.Judged) bool) (cells.Figure, bool) {
	var p cells.Pool
	for _, v := range s.Trials {
		if x, ok := v.Trial.Values.Of(name); ok && v.Plan.Arm == arm && v.Trial.Status == trial.Valid && of(v) {
			p.Add(v.Plan.Block, x)
		}
	}
	return p.Figure()
}

// conclude finds the state of a race, and what is recommended.
func (r *Race) conclude(s *cells.Dataset, f field, st standing) {
	base := f.baseline()
	switch {
	case r.Ended == "" && r.Winner == "":
		r.State = Running
	case base == nil || base.breaks():
		r.State = Failed
	case f.silent():
		r.State = Unmeasured
	case r.Winner == "":
		r.State = Unkept
	case st.plain:
		r.State, r.Recommended = Unbeaten, r.Baseline
		r.Bounds = boundsOf(s, r.Spec, r.Baseline, func(*trial.Judged) bool { return true })
	default:
		r.confirm(s)
	}
}

// confirm judges the winner by the fresh blocks alone.
func (r *Race) confirm(s *cells.Dataset) {
	confirms := confirming(s.Header.Allocations)
	fresh, err := only(s, confirms, r.Spec.Best)
	if err != nil || len(fresh.Cells) != 1 || len(confirms) < r.Spec.Confirm && !over(s.Header.Allocations) || slices.ContainsFunc(fresh.Trials, func(v *trial.Judged) bool { return v.Record == nil }) {
		r.State = Running
		return
	}
	cell := fresh.Cells[0]
	r.Gain = gain(fresh, cell, r.Spec.Best, r.Winner, r.Baseline)
	for _, name := range costs {
		m, _ := metric.Named(name) // of the registry, held by a test
		if b := compare.Prepare(fresh, cell, m, r.Winner, r.Baseline); name != r.Spec.Best && b.Ratio > 0 && b.Blocks >= 2 {
			b.LeaveUnjudged()
			r.Costs = append(r.Costs, b.Comparison)
		}
	}
	inFresh := func(v *trial.Judged) bool { return confirms[v.Plan.Block] }
	kept := allMet(boundsOf(s, r.Spec, r.Winner, inFresh))
	plain := allMet(boundsOf(s, r.Spec, r.Baseline, inFresh))
	switch {
	case kept && r.Gain.Verdict == compare.Better:
		r.State, r.Recommended = Confirmed, r.Winner
	case kept && !plain:
		r.State, r.Recommended = Needed, r.Winner
	case plain:
		r.State, r.Recommended = Unproven, r.Baseline
	default:
		r.State = Unkept
	}
	r.Bounds = boundsOf(s, r.Spec, cmp.Or(r.Recommended, r.Winner), inFresh)
}

// over tells whether it was decided that no further block runs.
func over(decided []record.Allocation) bool {
	return slices.ContainsFunc(decided, func(a record.Allocation) bool { return a.Ended })
}

// gain compares the winner with the baseline by the ordinary rule, as the only declared
// comparison.
func gain(fresh *cells.Dataset, cell, best, winner, base string) *compare.Comparison {
	m, _ := metric.Named(best) // Read has seen it
	b := compare.Prepare(fresh, cell, m, winner, base)
	b.Bound = b.Margin
	compare.ShareLevel([]*compare.Pending{b})
	b.Judge()
	return &b.Comparison
}

// only is a dataset of some blocks, as a study of its own that declares one metric.
func only(s *cells.Dataset, blocks map[int]bool, best string) (*cells.Dataset, error) {
	header := s.Header
	header.Study.Compare.Primary, header.Study.Compare.Also = []string{best}, nil
	var trials []record.Trial
	var records []record.Record
	for _, v := range s.Trials {
		if !blocks[v.Plan.Block] {
			continue
		}
		trials = append(trials, v.Plan)
		if v.Record != nil {
			records = append(records, *v.Record)
		}
	}
	return cells.Read(header, trials, records)
}

// boundsOf holds an arm's figures against the bounds.
func boundsOf(s *cells.Dataset, spec record.Race, arm string, of func(*trial.Judged) bool) []Bound {
	var all []Bound
	for _, b := range spec.Within {
		held := Bound{Bound: b, State: compare.Undecided}
		if figure, ok := figureOf(s, arm, b.Metric, of); ok {
			held.Figure, held.State = figure, compare.Hold(figure, b)
		}
		all = append(all, held)
	}
	return all
}

func allMet(bounds []Bound) bool {
	return !slices.ContainsFunc(bounds, func(b Bound) bool { return b.State != compare.Met })
}
