// Package cells arranges a run's judged trials by cell and arm, and sums their
// metrics up over blocks. It compares nothing.
package cells

import (
	"cmp"
	"fmt"
	"iter"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"netdyno/internal/read/course"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// LevelOf returns a trial's level of a factor, the compared one included; false
// when the trial has no such factor.
func (s *Dataset) LevelOf(v *trial.Judged, factor string) (string, bool) {
	if factor == s.Compare.Factor {
		return v.Plan.Arm, true
	}
	level, ok := v.Plan.Levels[factor]
	return level, ok
}

// IsAt tells whether a trial runs at all of the given levels.
func (s *Dataset) IsAt(v *trial.Judged, levels map[string]string) bool {
	for factor, level := range levels {
		if got, ok := s.LevelOf(v, factor); !ok || got != level {
			return false
		}
	}
	return true
}

// CellsWith returns the cells at the given levels in which all of the arms run.
func (s *Dataset) CellsWith(where map[string]string, arms []string) []string {
	return slices.DeleteFunc(slices.Clone(s.Cells), func(cell string) bool {
		return slices.ContainsFunc(arms, func(arm string) bool {
			judged := s.Of(cell, arm)
			return len(judged) == 0 || !s.IsAt(judged[0], where)
		})
	})
}

// Primary tells whether the study declares a metric as primary.
func (s *Dataset) Primary(metric string) bool {
	return slices.Contains(s.Compare.Primary, metric)
}

// Key is where a trial stands in the study's table.
type Key struct{ Cell, Arm string }

// KeyOf names an arm in a cell.
func KeyOf(cell, arm string) Key { return Key{Cell: cell, Arm: arm} }

// Dataset is a run in the study's order: cells, arms, and their trials.
type Dataset struct {
	Plan
	Facts    record.Facts
	Decided  []record.Allocation // by block; of a steered run
	Again    []record.Attempt    // trials that were disturbed and made again
	Trials   []*trial.Judged     // in the plan's order, probes apart
	Probes   []*trial.Judged     // profiled trials, read for their profiles only
	Unloaded []*trial.Judged     // trials without load, read for their arms' times by size only
	FlatOut  []*trial.Judged     // trials of which rates are shares, read for their rates only
	Cells    []string
	Arms     []string
	at       map[Key][]*trial.Judged // by block, a repeat after its first appearance
	Stray    []record.Warning        // about records that belong nowhere
	Courses  []course.Course         // of loads that go on in turns, those of which there is something to say
	Look     *Look                   // nil for a study with one look
	times    sync.Map                // *timed by cell, arm and kind
	skipped  int                     // trials that a run which stopped at a look had planned for later looks
}

// Of returns the trials of an arm in a cell, by block; none where it does not
// run there.
func (s *Dataset) Of(cell, arm string) []*trial.Judged { return s.at[KeyOf(cell, arm)] }

func (s *Dataset) strayed(id, what string) {
	s.Stray = append(s.Stray, record.Warning{
		About: "records", Text: fmt.Sprintf("trial %q %s", id, what),
		Advice: "check that trials.jsonl and records.jsonl are of the same run",
	})
}

// arrange orders cells and arms as the study names their levels, not as the
// shuffle met them.
func (s *Dataset) arrange() {
	cells, arms := map[string]map[string]string{}, map[string]bool{}
	for _, v := range s.Trials {
		p := KeyOf(v.Plan.Cell, v.Plan.Arm)
		s.at[p] = append(s.at[p], v)
		if cells[p.Cell] == nil {
			cells[p.Cell] = v.Plan.Levels
		}
		arms[p.Arm] = true
	}
	for _, judged := range s.at {
		slices.SortStableFunc(judged, trial.InOrder)
	}
	compared := s.Compare.Factor
	s.Arms = slices.SortedFunc(maps.Keys(arms), Order(s.LevelsOf(compared)))
	orders := make([]func(a, b string) int, len(s.Vary))
	for i, f := range s.Vary {
		orders[i] = Order(f.Levels)
	}
	s.Cells = slices.SortedFunc(maps.Keys(cells), func(a, b string) int {
		for i, f := range s.Vary {
			x, y := cells[a][f.Name], cells[b][f.Name]
			if f.Name != compared && x != y {
				return orders[i](x, y)
			}
		}
		return strings.Compare(a, b)
	})
}

// LevelsOf returns the levels of a varied factor in the study's order; nil for
// any other factor.
func (s *Dataset) LevelsOf(factor string) []string {
	for _, f := range s.Vary {
		if f.Name == factor {
			return f.Levels
		}
	}
	return nil
}

// Order compares two words as levels lists them, unlisted ones last and by name.
func Order(levels []string) func(a, b string) int {
	places := make(map[string]int, len(levels)) // a mesh has a level for each host
	for i, level := range slices.Backward(levels) {
		places[level] = i - len(levels) // an unlisted one is at 0
	}
	return func(a, b string) int { return cmp.Or(places[a]-places[b], strings.Compare(a, b)) }
}

func rank(repeat bool) int {
	if repeat {
		return 1
	}
	return 0
}

// Places returns every arm in every cell that it runs in, with its trials there, in the
// study's order.
func (s *Dataset) Places() iter.Seq2[Key, []*trial.Judged] {
	return func(yield func(Key, []*trial.Judged) bool) {
		for _, cell := range s.Cells {
			for _, arm := range s.Arms {
				if judged := s.Of(cell, arm); len(judged) > 0 && !yield(KeyOf(cell, arm), judged) {
					return
				}
			}
		}
	}
}

// Workers returns the workers of every trial that left a record, in the plan's order.
func (s *Dataset) Workers() iter.Seq2[*trial.Judged, *record.Worker] {
	return func(yield func(*trial.Judged, *record.Worker) bool) {
		for _, v := range s.Trials {
			if v.Record == nil {
				continue
			}
			for i := range v.Record.Workers {
				if !yield(v, &v.Record.Workers[i]) {
					return
				}
			}
		}
	}
}

// EachCell calls find for every cell, side by side, and returns what it found in
// the order of the cells. Find may read the dataset, which nobody changes then.
func EachCell[T any](s *Dataset, find func(cell string) []T) []T {
	found := make([][]T, len(s.Cells))
	var next atomic.Int64
	var finders sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		finders.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(found)); i = next.Add(1) - 1 {
				found[i] = find(s.Cells[i])
			}
		})
	}
	finders.Wait()
	return slices.Concat(found...)
}

// CountTrials counts the trials and how much of the run's time they measured in.
func (s *Dataset) CountTrials() Tally {
	t := Tally{Planned: len(s.Trials), Skipped: s.skipped, Probes: len(s.Probes), Unloaded: len(s.Unloaded), FlatOut: len(s.FlatOut)}
	inside, whole := 0.0, 0.0
	for _, v := range s.Trials {
		switch v.Trial.Status {
		case trial.Valid:
			t.Valid++
			t.Partial += rank(v.Trial.Partial() && v.Trial.TurnS == 0)
		case trial.StatusFailed:
			t.Failed++
		case trial.StatusInvalid:
			t.Invalid++
		case trial.StatusUnsupported:
			t.Unsupported++
		case trial.StatusWarmUp:
			t.WarmUp++
		default:
			t.Missing++
			continue
		}
		line := v.Record.Timeline
		if 0 <= line.StartNs && line.StartNs <= line.CloseNs && line.CloseNs <= line.EndNs {
			inside += float64(line.CloseNs) - float64(line.StartNs)
			whole += float64(line.EndNs)
		}
	}
	if whole > 0 {
		t.WindowShare = inside / whole
	}
	return t
}

// Tally counts the records by how they ended. Probes are counted apart: they
// are read for their profiles and nothing else.
type Tally struct {
	Planned     int     `json:"planned"`
	Valid       int     `json:"valid"`
	Failed      int     `json:"failed"`
	Invalid     int     `json:"invalid"`
	Partial     int     `json:"partial,omitempty"` // of the valid ones, those without rates: they stood still
	Unsupported int     `json:"unsupported"`
	WarmUp      int     `json:"warm_up,omitempty"`   // turns in which a server still became faster
	Missing     int     `json:"missing"`             // planned, no record (yet)
	Unplanned   int     `json:"unplanned,omitempty"` // records of trials outside the plan, which are left out
	Skipped     int     `json:"skipped,omitempty"`   // not planned any more, as the run stopped at a look
	Probes      int     `json:"probes,omitempty"`
	Unloaded    int     `json:"unloaded,omitempty"` // trials without load, which are read for their times by size and nothing else
	FlatOut     int     `json:"flat_out,omitempty"` // trials of which rates are shares, which are read for their rates and nothing else
	WindowShare float64 `json:"window_share"`       // share of the run's time inside windows and declared warm-up
}
