// Package cells arranges a run's judged trials by cell and arm, and sums their
// metrics up over blocks. It compares nothing.
package cells

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// LevelOf returns a trial's level of a factor, the compared one included; false
// when the trial has no such factor.
func (s *Dataset) LevelOf(v *trial.Judged, factor string) (string, bool) {
	if factor == s.Header.Study.Compare.Factor {
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
	return slices.Contains(s.Header.Study.Compare.Primary, metric)
}

// Key is where a trial stands in the study's table.
type Key struct{ Cell, Arm string }

// KeyOf names an arm in a cell.
func KeyOf(cell, arm string) Key { return Key{Cell: cell, Arm: arm} }

// Dataset is a run in the study's order: cells, arms, and their trials.
type Dataset struct {
	Header  record.Header
	Trials  []*trial.Judged // in the plan's order, probes apart
	Probes  []*trial.Judged // profiled trials, read for their profiles only
	Cells   []string
	Arms    []string
	at      map[Key][]*trial.Judged // by block, a repeat after its first appearance
	Stray   []record.Warning        // about records that belong nowhere
	Stage   *Stage                  // nil for a study without stages
	skipped int                     // trials that a run which stopped at a stage had planned for later stages
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
		slices.SortStableFunc(judged, func(a, b *trial.Judged) int {
			return cmp.Or(cmp.Compare(a.Plan.Block, b.Plan.Block), rank(a.Plan.Repeat)-rank(b.Plan.Repeat),
				cmp.Compare(a.Plan.Order, b.Plan.Order), cmp.Compare(a.Plan.ID, b.Plan.ID))
		})
	}
	compared := s.Header.Study.Compare
	for arm := range arms {
		s.Arms = append(s.Arms, arm)
	}
	levels := s.LevelsOf(compared.Factor)
	sort.Slice(s.Arms, func(i, j int) bool { return Before(levels, s.Arms[i], s.Arms[j]) })
	for cell := range cells {
		s.Cells = append(s.Cells, cell)
	}
	sort.Slice(s.Cells, func(i, j int) bool {
		a, b := s.Cells[i], s.Cells[j]
		for _, f := range s.Header.Study.Vary {
			x, y := cells[a][f.Name], cells[b][f.Name]
			if f.Name != compared.Factor && x != y {
				return Before(f.Levels, x, y)
			}
		}
		return a < b
	})
}

// LevelsOf returns the levels of a varied factor in the study's order; nil for
// any other factor.
func (s *Dataset) LevelsOf(factor string) []string {
	for _, f := range s.Header.Study.Vary {
		if f.Name == factor {
			return f.Levels
		}
	}
	return nil
}

// Before orders words as levels lists them, unlisted ones behind by name.
func Before(levels []string, a, b string) bool {
	i, j := slices.Index(levels, a), slices.Index(levels, b)
	switch {
	case i >= 0 && j >= 0 && i != j:
		return i < j
	case i >= 0 != (j >= 0):
		return i >= 0
	}
	return a < b
}

func rank(repeat bool) int {
	if repeat {
		return 1
	}
	return 0
}
