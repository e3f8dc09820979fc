// Package races carries out races over figures that are known beforehand, such as those of
// a recorded study of every arm: what a run would have measured, and what it would have said.
package races

import (
	"fmt"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/search"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Replay is a race over known figures. Every trial takes a second of its time.
type Replay struct {
	Arms     []string
	Baseline string
	Race     record.Race // without bounds
	Margin   float64
	Blocks   int                                 // at most, the confirmation's included
	Figure   func(arm string, block int) float64 // 0 where the trial is not valid
}

// Result is how a replayed race ended.
type Result struct {
	Winner      string // of the race; "" where the baseline stayed from the start
	Recommended string // the winner where fresh blocks show it better, else the baseline
	Trials      int    // the confirmation's included
}

// Run carries the race out.
func (p Replay) Run() Result {
	plan := p.plan()
	study := record.Study{Race: &p.Race, Blocks: p.Blocks, Compare: record.Compare{Factor: "arm", Baseline: p.Baseline, Margin: p.Margin}}
	s := &cells.Dataset{Arms: p.Arms, Plan: cells.PlanOf(record.Header{Study: study})}
	r := Result{Recommended: p.Baseline}
	ran := map[string]*trial.Judged{}
	for block := 1; block <= p.Blocks; block++ {
		s.Trials = nil
		for _, t := range record.Allocated(plan, s.Decided) {
			if v := ran[t.ID]; v != nil {
				s.Trials = append(s.Trials, v)
			} else {
				s.Trials = append(s.Trials, &trial.Judged{Plan: t})
			}
		}
		a, _ := search.Next(s, block)
		s.Decided = append(s.Decided, a)
		if a.Ended {
			break
		}
		r.Winner = a.Confirms
		for _, t := range record.Allocated(plan, s.Decided) {
			if t.Block == block {
				ran[t.ID] = p.measured(t)
			}
		}
	}
	r.Trials = len(ran)
	if r.Winner != "" && p.confirmed(ran, s.Decided, r.Winner) {
		r.Recommended = r.Winner
	}
	return r
}

func (p Replay) plan() []record.Trial {
	var plan []record.Trial
	for block := 1; block <= p.Blocks; block++ {
		for _, arm := range p.Arms {
			plan = append(plan, record.Trial{ID: fmt.Sprintf("%d-%s", block, arm), Block: block, Arm: arm})
		}
	}
	return plan
}

// measured is a trial with its known figure.
func (p Replay) measured(t record.Trial) *trial.Judged {
	v := &trial.Judged{Plan: t, Record: &record.Record{Outcome: record.OK, Timeline: record.Timeline{EndNs: 1e9}}, Trial: trial.Trial{Status: trial.StatusInvalid}}
	if x := p.Figure(t.Arm, t.Block); cells.Usable(x) {
		v.Trial.Status, v.Trial.Values = trial.Valid, metric.ValuesOf(map[string]float64{p.Race.Best: x})
	}
	return v
}

// confirmed compares the winner with the baseline by the blocks that chose nothing.
func (p Replay) confirmed(ran map[string]*trial.Judged, decided []record.Allocation, winner string) bool {
	var fresh, base cells.Pool
	for _, a := range decided {
		if a.Confirms == "" {
			continue
		}
		x, y := p.Figure(winner, a.Block), p.Figure(p.Baseline, a.Block)
		if ran[fmt.Sprintf("%d-%s", a.Block, winner)] != nil && cells.Usable(x) && cells.Usable(y) {
			fresh.Add(a.Block, x)
			base.Add(a.Block, y)
		}
	}
	return compare.Between(metric.Shown(p.Race.Best), compare.Divide(&fresh, &base), p.Margin).Verdict == compare.Better
}
