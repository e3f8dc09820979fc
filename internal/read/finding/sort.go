package finding

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// view is one planned trial with the record that it left.
type view struct {
	plan   record.Trial
	record *record.Record // nil when there is none yet
	trial  Trial

	limitOf contract.Role // the end whose resource was the limit; "" when it was neither's alone
	traffic linkTraffic

	service, response []int64 // ns at the shares of curveShares, as far as the trial has them
}

// place is where a trial stands in the study's table.
type place struct{ cell, arm string }

// keyOf names an arm in a cell.
func keyOf(cell, arm string) place { return place{cell: cell, arm: arm} }

// dataset is a run in the study's order: cells, arms, and their trials.
type dataset struct {
	header  record.Header
	views   []*view // in the plan's order, probes apart
	probes  []*view // profiled trials, read for their profiles only
	cells   []string
	arms    []string
	at      map[place][]*view // by block, a repeat after its first appearance
	stray   []record.Warning  // about records that belong nowhere
	stage   *Stage            // nil for a study without stages
	skipped int               // trials that a run which stopped at a stage had planned for later stages
}

func sortOut(header record.Header, trials []record.Trial, records []record.Record) *dataset {
	s := &dataset{header: header, at: map[place][]*view{}}
	byID := map[string]*view{}
	horizon := record.Horizon(header, trials, records)
	for _, t := range trials {
		if t.Block > horizon && !t.Probe {
			if t.Block <= header.Study.Blocks {
				s.skipped++
			}
			continue
		}
		if byID[t.ID] != nil {
			s.strayed(t.ID, "is planned twice; the first place counts")
			continue
		}
		v := &view{plan: t}
		byID[t.ID] = v
		if t.Probe {
			s.probes = append(s.probes, v)
			continue
		}
		s.views = append(s.views, v)
	}
	for i := range records {
		id := records[i].Trial.ID
		switch v := byID[id]; {
		case v == nil:
			s.strayed(id, "left a record but is not in the plan; it is left out")
		case v.record != nil:
			s.strayed(id, "left two records; the first counts")
		default:
			v.record = &records[i]
		}
	}
	s.arrange()
	s.stage = s.staged()
	return s
}

// of returns the trials of an arm in a cell, by block; none where it does not
// run there.
func (s *dataset) of(cell, arm string) []*view { return s.at[keyOf(cell, arm)] }

func (s *dataset) strayed(id, what string) {
	s.stray = append(s.stray, record.Warning{
		About: "records", Text: fmt.Sprintf("trial %q %s", id, what),
		Advice: "check that trials.jsonl and records.jsonl are of the same run",
	})
}

// arrange orders cells and arms as the study names their levels, not as the
// shuffle met them.
func (s *dataset) arrange() {
	cells, arms := map[string]map[string]string{}, map[string]bool{}
	for _, v := range s.views {
		p := keyOf(v.plan.Cell, v.plan.Arm)
		s.at[p] = append(s.at[p], v)
		if cells[p.cell] == nil {
			cells[p.cell] = v.plan.Levels
		}
		arms[p.arm] = true
	}
	for _, views := range s.at {
		slices.SortStableFunc(views, func(a, b *view) int {
			return cmp.Or(cmp.Compare(a.plan.Block, b.plan.Block), rank(a.plan.Repeat)-rank(b.plan.Repeat),
				cmp.Compare(a.plan.Order, b.plan.Order), cmp.Compare(a.plan.ID, b.plan.ID))
		})
	}
	compared := s.header.Study.Compare
	for arm := range arms {
		s.arms = append(s.arms, arm)
	}
	levels := s.levelsOf(compared.Factor)
	sort.Slice(s.arms, func(i, j int) bool { return before(levels, s.arms[i], s.arms[j]) })
	for cell := range cells {
		s.cells = append(s.cells, cell)
	}
	sort.Slice(s.cells, func(i, j int) bool {
		a, b := s.cells[i], s.cells[j]
		for _, f := range s.header.Study.Vary {
			x, y := cells[a][f.Name], cells[b][f.Name]
			if f.Name != compared.Factor && x != y {
				return before(f.Levels, x, y)
			}
		}
		return a < b
	})
}

func (s *dataset) levelsOf(factor string) []string {
	for _, f := range s.header.Study.Vary {
		if f.Name == factor {
			return f.Levels
		}
	}
	return nil
}

// before orders words as levels lists them, unlisted ones behind by name.
func before(levels []string, a, b string) bool {
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
