package finding

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// searches carries out the searches that the study asks for, in valid trials
// alone.
func (s *dataset) searches() []Search {
	var all []Search
	for _, spec := range s.header.Study.Reaches {
		found := Search{Spec: spec}
		if reason := s.search(&found); reason != "" {
			found = Search{Spec: spec, Unit: found.Unit, Reason: reason}
		}
		all = append(all, found)
	}
	return all
}

// found is an arm in a cell with its trials' values.
type found struct {
	place
	candidate Candidate
	views     []*view
	pool      pool
}

// search fills in a search, or returns why there is none.
func (s *dataset) search(into *Search) string {
	spec := into.Spec
	m, err := metric.Named(spec.Metric)
	if err != nil {
		return err.Error()
	}
	into.Unit = m.Unit
	views, why := s.where(scope{levels: spec.Where}, spec.Least...)
	if why != "" {
		return why
	}
	candidates, why := s.candidates(spec, views)
	if why != "" {
		return why
	}
	var single []string
	keep := func(blocks func(*found) int) {
		candidates = slices.DeleteFunc(candidates, func(f *found) bool {
			few := blocks(f) < leastSearched
			if few {
				single = append(single, f.arm+" with "+into.need(f.candidate))
			}
			return few
		})
	}
	if keep(func(f *found) int { return len(f.pool.blocks) }); len(candidates) == 0 {
		return fmt.Sprintf("no arm has a valid value in %d blocks, and a share of the best has no interval from fewer", leastSearched)
	}
	best := slices.MaxFunc(candidates, func(a, b *found) int { return cmp.Compare(a.candidate.Metric.Value, b.candidate.Metric.Value) })
	keep(func(f *found) int { return f.share(best) })
	into.Best, into.BestOf = best.candidate, best.arm
	for _, arm := range s.arms {
		var own []Candidate
		for _, f := range candidates {
			if f.arm == arm {
				own = append(own, f.candidate)
			}
		}
		if len(own) > 0 {
			into.Reached = append(into.Reached, leastOf(arm, own, spec.Share))
		}
	}
	into.Sentence = into.words(m.Doc)
	if len(single) > 0 {
		into.Sentence += fmt.Sprintf(" Left out, as fewer than %d blocks have them beside the best: %s.", leastSearched, strings.Join(single, ", "))
	}
	return ""
}

// leastSearched is the number of blocks from which a share has an interval.
const leastSearched = 2

// candidates gathers the trials by arm and cell, in the study's order.
func (s *dataset) candidates(spec record.Reach, views []*view) ([]*found, string) {
	at := map[place]*found{}
	var candidates []*found
	for _, v := range views {
		value, ok := v.trial.Values[spec.Metric]
		if !ok || !usable(value) {
			continue
		}
		p := keyOf(v.plan.Cell, v.plan.Arm)
		if at[p] == nil {
			levels, why := s.numbers(v, spec.Least)
			if why != "" {
				return nil, why
			}
			at[p] = &found{place: p, candidate: Candidate{Cell: p.cell, Levels: levels}}
			candidates = append(candidates, at[p])
		}
		at[p].views = append(at[p].views, v)
		at[p].pool.add(v.plan.Block, value)
	}
	if len(candidates) == 0 {
		return nil, fmt.Sprintf("no valid trial%s has a positive %s", scope{levels: spec.Where}, spec.Metric)
	}
	for _, f := range candidates {
		f.candidate.Metric, _ = f.pool.figure() // every candidate has a value
		f.candidate.Limit, _ = limitOf(f.views)
	}
	return candidates, ""
}

// numbers returns a trial's levels of factors as places on axes.
func (s *dataset) numbers(v *view, factors []string) ([]Coordinate, string) {
	var levels []Coordinate
	for _, factor := range factors {
		level, _ := s.levelOf(v, factor)
		x, ok := numberOf(level)
		if !ok {
			return nil, fmt.Sprintf("%s=%s of trial %s is no number", factor, level, v.plan.ID)
		}
		levels = append(levels, Coordinate{level, x})
	}
	return levels, ""
}

// share compares a candidate with the best within blocks, so that drift from block
// to block does not widen it (METHOD §6.2), and returns in how many blocks both
// have a value.
func (f *found) share(best *found) (blocks int) {
	p := divide(&f.pool, &best.pool)
	f.candidate.Value, f.candidate.BestValue, f.candidate.Blocks = p.value, p.base, len(p.ratios)
	e, _ := p.estimate() // without two blocks the candidate is left out
	f.candidate.Share, f.candidate.Low, f.candidate.High = e.Point, e.Low, e.High
	return len(p.ratios)
}

// leastOf keeps, of an arm's candidates that come to the share, those that no other
// dominates.
func leastOf(arm string, candidates []Candidate, share float64) Reached {
	r := Reached{Arm: arm}
	for i, candidate := range candidates {
		if i == 0 || candidate.Metric.Value > r.Best.Metric.Value {
			r.Best = candidate
		}
		if candidate.Share < share {
			continue
		}
		dominated := slices.ContainsFunc(candidates, func(other Candidate) bool { return other.Share >= share && other.dominates(candidate) })
		if !dominated {
			r.Least = append(r.Least, candidate)
		}
	}
	slices.SortStableFunc(r.Least, func(a, b Candidate) int {
		return slices.CompareFunc(a.Levels, b.Levels, func(x, y Coordinate) int { return cmp.Compare(x.Value, y.Value) })
	})
	return r
}

// dominates tells whether a needs less of a factor than b and no more of any;
// of two that need the same the one that does more dominates the other.
func (a Candidate) dominates(b Candidate) bool {
	less := false
	for i := range a.Levels {
		switch {
		case a.Levels[i].Value > b.Levels[i].Value:
			return false
		case a.Levels[i].Value < b.Levels[i].Value:
			less = true
		}
	}
	return less || a.Metric.Value > b.Metric.Value && a.sameLevels(b)
}

func (a Candidate) sameLevels(b Candidate) bool {
	return slices.EqualFunc(a.Levels, b.Levels, func(x, y Coordinate) bool { return x.Value == y.Value })
}

// words answers the search, of the metric in words: who needs least, and who does
// not come there.
func (f *Search) words(metric string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The best %s is %s, of %s with %s.", metric, rateWords(f.Best.Metric.Value, f.Unit), f.BestOf, f.need(f.Best))
	var short []string
	for _, r := range f.Reached {
		if len(r.Least) == 0 {
			hedge := ""
			if r.Best.Uncertain(f.Spec.Share) {
				hedge = ", perhaps"
			}
			short = append(short, fmt.Sprintf("%s (%s%s, limit %s)", r.Arm, quantity.FormatShare(r.Best.Share), hedge, r.Best.Limit))
			continue
		}
		var ways []string
		for _, candidate := range r.Least {
			hedge := ""
			if candidate.Uncertain(f.Spec.Share) {
				hedge = ", perhaps"
			}
			ways = append(ways, fmt.Sprintf("%s (%s%s)", f.need(candidate), quantity.FormatShare(candidate.Share), hedge))
		}
		fmt.Fprintf(&b, " %s comes to %s of it with %s.", r.Arm, quantity.FormatShare(f.Spec.Share), strings.Join(ways, " or "))
	}
	if len(short) > 0 {
		fmt.Fprintf(&b, " Below that stay, at their best: %s.", strings.Join(short, ", "))
	}
	return b.String()
}

// need spells a candidate's levels as they are typed: "threads=1 connections=4".
func (f *Search) need(s Candidate) string {
	words := make([]string, len(s.Levels))
	for i, level := range s.Levels {
		words[i] = f.Spec.Least[i] + "=" + level.Text
	}
	return strings.Join(words, " ")
}

func rateWords(x float64, unit string) string {
	if unit == "B/s" {
		return quantity.FormatByteRate(x)
	}
	return inUnit(x, unit)
}
