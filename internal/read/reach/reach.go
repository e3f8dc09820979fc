// Package reach finds with how little of the factors that cost something each arm comes
// near the best of a metric. It is pure.
package reach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// Read answers what the study asks under reaches, by valid trials alone.
func Read(s *cells.Dataset) Reaches {
	var all Reaches
	for _, spec := range s.Header.Study.Reaches {
		found := Reach{Spec: spec}
		if reason := answer(s, &found); reason != "" {
			found = Reach{Spec: spec, Unit: found.Unit, Reason: reason}
		}
		found.Sentence = found.sentence(s.Header.Study)
		all = append(all, found)
	}
	return all
}

// found is an arm in a cell with its trials' values.
type found struct {
	cells.Key
	candidate Candidate
	judged    []*trial.Judged
	pool      cells.Pool
}

// answer fills in what each arm reaches, or returns why there is none.
func answer(s *cells.Dataset, into *Reach) string {
	spec := into.Spec
	m, err := metric.Named(spec.Metric)
	if err != nil {
		return err.Error()
	}
	into.Unit = m.Unit
	judged, why := view.Where(s, view.Scope{Levels: spec.Where}, spec.Least...)
	if why != "" {
		return why
	}
	candidates, why := candidates(s, spec, judged)
	if why != "" {
		return why
	}
	var single []string
	keep := func(blocks func(*found) int) {
		candidates = slices.DeleteFunc(candidates, func(f *found) bool {
			few := blocks(f) < LeastBlocks
			if few {
				single = append(single, f.Arm+" with "+into.spell(f.candidate))
			}
			return few
		})
	}
	if keep(func(f *found) int { return f.pool.Count() }); len(candidates) == 0 {
		return fmt.Sprintf("no arm has a valid value in %d blocks, and fewer give no interval", LeastBlocks)
	}
	best := slices.MaxFunc(candidates, func(a, b *found) int { return cmp.Compare(a.candidate.Metric.Value, b.candidate.Metric.Value) })
	keep(func(f *found) int { return f.share(best) })
	into.Best, into.BestOf = best.candidate, best.Arm
	for _, arm := range s.Arms {
		var own []Candidate
		for _, f := range candidates {
			if f.Arm == arm {
				own = append(own, f.candidate)
			}
		}
		if len(own) > 0 {
			into.Reached = append(into.Reached, leastOf(arm, own, spec.Share))
		}
	}
	into.LeftOut = single
	return ""
}

// LeastBlocks is the number of blocks from which a share has an interval.
const LeastBlocks = 2

// candidates gathers the trials by arm and cell, in the study's order.
func candidates(s *cells.Dataset, spec record.Reach, judged []*trial.Judged) ([]*found, string) {
	at := map[cells.Key]*found{}
	var candidates []*found
	for _, v := range judged {
		value, ok := v.Trial.Values.Of(spec.Metric)
		if !ok || !cells.Usable(value) {
			continue
		}
		p := cells.KeyOf(v.Plan.Cell, v.Plan.Arm)
		if at[p] == nil {
			levels, why := numbers(s, v, spec.Least)
			if why != "" {
				return nil, why
			}
			at[p] = &found{Key: p, candidate: Candidate{Cell: p.Cell, Levels: levels}}
			candidates = append(candidates, at[p])
		}
		at[p].judged = append(at[p].judged, v)
		at[p].pool.Add(v.Plan.Block, value)
	}
	if len(candidates) == 0 {
		return nil, fmt.Sprintf("no valid trial%s has a positive %s", view.Scope{Levels: spec.Where}, spec.Metric)
	}
	for _, f := range candidates {
		f.candidate.Metric, _ = f.pool.Figure() // every candidate has a value
		f.candidate.Limit, _ = cells.LimitOf(f.judged)
	}
	return candidates, ""
}

// numbers returns a trial's levels of factors as places on axes.
func numbers(s *cells.Dataset, v *trial.Judged, factors []string) ([]view.Coordinate, string) {
	var levels []view.Coordinate
	for _, factor := range factors {
		level, _ := s.LevelOf(v, factor)
		x, ok := view.NumberOf(level)
		if !ok {
			return nil, fmt.Sprintf("%s=%s of trial %s is no number", factor, level, v.Plan.ID)
		}
		levels = append(levels, view.Coordinate{Text: level, Value: x})
	}
	return levels, ""
}

// share compares a candidate with the best within blocks, so that drift from block
// to block does not widen it (specification §6.2), and returns in how many blocks both
// have a value.
func (f *found) share(best *found) (blocks int) {
	p := compare.Divide(&f.pool, &best.pool)
	f.candidate.Value, f.candidate.BestValue, f.candidate.Blocks = p.Value, p.Base, len(p.Ratios)
	e, _ := p.Estimate() // without two blocks the candidate is left out
	f.candidate.Share, f.candidate.Low, f.candidate.High = e.Point, e.Low, e.High
	return len(p.Ratios)
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
		return slices.CompareFunc(a.Levels, b.Levels, func(x, y view.Coordinate) int { return cmp.Compare(x.Value, y.Value) })
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
	return slices.EqualFunc(a.Levels, b.Levels, func(x, y view.Coordinate) bool { return x.Value == y.Value })
}

// spell spells a candidate's levels as they are typed: "threads=1 connections=4".
func (f *Reach) spell(s Candidate) string {
	words := make([]string, len(s.Levels))
	for i, level := range s.Levels {
		words[i] = f.Spec.Least[i] + "=" + level.Text
	}
	return strings.Join(words, " ")
}

// Reaches are the answers to what a study asks under reaches.
type Reaches []Reach

// Reach says with how little of the factors that cost something each arm comes near
// the best. Reason says why there is
// none.
type Reach struct {
	Spec     record.Reach `json:"spec"`
	Unit     string       `json:"unit"` // of Spec.Metric
	Best     Candidate    `json:"best"` // of all arms
	BestOf   string       `json:"best_of,omitempty"`
	Reached  []Reached    `json:"reached,omitempty"`  // by arm, in the study's order
	LeftOut  []string     `json:"left_out,omitempty"` // candidates that have fewer than LeastBlocks blocks in common with the best
	Sentence string       `json:"sentence,omitempty"`
	Reason   string       `json:"reason,omitempty"`
}

// Reached is what one arm needs.
type Reached struct {
	Arm   string      `json:"arm"`
	Least []Candidate `json:"least,omitempty"` // no other candidate that reaches needs less of one factor and no more of another; none: the arm does not reach
	Best  Candidate   `json:"best"`            // the most that it does, anywhere
}

// Candidate is one arm in one cell.
type Candidate struct {
	Cell      string            `json:"cell"`
	Levels    []view.Coordinate `json:"levels"` // of Spec.Least, in its order
	Metric    cells.Figure      `json:"metric"`
	Share     float64           `json:"share"` // of the best, block by block: Value ÷ BestValue
	Low       float64           `json:"low"`   // its 95 % interval
	High      float64           `json:"high"`
	Value     float64           `json:"value"` // this candidate's figure and the best's over the blocks that both have
	BestValue float64           `json:"best_value"`
	Blocks    int               `json:"blocks"` // that both have, at least 2
	Limit     trial.Limit       `json:"limit"`  // of most of its trials
}

// Uncertain tells whether a candidate's interval holds a share of the best: it comes
// there, or stays below, only perhaps.
func (a Candidate) Uncertain(share float64) bool { return a.Low < share && share <= a.High }
