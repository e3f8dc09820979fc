package finding

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Stage says at which of a study's declared looks a run is judged (METHOD
// §6.10).
type Stage struct {
	Number   int     `json:"number"` // from 1
	Of       int     `json:"of"`
	Blocks   int     `json:"blocks"`   // that the look has
	Done     int     `json:"done"`     // of them, those that have all their records
	Level    float64 `json:"level"`    // that verdicts need here; 0 when this look can decide nothing
	Settled  bool    `json:"settled"`  // no primary comparison and no requirement is open
	Stopped  bool    `json:"stopped"`  // the run ended here, before its last stage
	Sentence string  `json:"sentence"` // in words
}

// Look says whether a run may stop after one of its study's stages, counted
// from 1, by the records of that stage's blocks. Later records are left out.
// It fails where Find fails, and for a stage that the study does not have.
func Look(header record.Header, trials []record.Trial, records []record.Record, stage int) (Stage, error) {
	stages := header.Study.Stages
	if !sensible(stages) || stage < 1 || stage > len(stages) {
		return Stage{}, fmt.Errorf("look at stage %d: the study has %d stages", stage, len(stages))
	}
	blocks := stages[stage-1]
	header.Stopped = &record.Stop{Stage: stage, Blocks: blocks}
	records = slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool { return r.Trial.Block > blocks })
	s, err := read(header, trials, records)
	if err != nil {
		return Stage{}, err
	}
	noise := s.noise()
	return *s.settle(s.compare(noise), s.require(noise)), nil
}

// sensible reports whether stages are what a planner writes: 2 or more rising
// numbers of blocks. Others, of a damaged header, count as none.
func sensible(stages []int) bool {
	return len(stages) > 1 && stages[0] > 0 && slices.IsSorted(stages) && len(slices.Compact(slices.Clone(stages))) == len(stages)
}

// StageLevels returns the level of each stage; of a study without stages, that
// of its one look.
func StageLevels(study record.Study) []float64 {
	if !sensible(study.Stages) {
		return []float64{Level}
	}
	return stat.StageLevels(study.Stages, Level)
}

// staged finds the look that a run is at: where it stopped, else the first one
// that is not behind its records. Nil without stages.
func (s *sorted) staged() *Stage {
	stages := s.header.Study.Stages
	if !sensible(stages) {
		return nil
	}
	begun, done := s.blocksDone()
	number := slices.IndexFunc(stages, func(blocks int) bool { return blocks >= begun }) + 1
	if number == 0 {
		number = len(stages)
	}
	stopped := stopOf(s.header)
	if stopped != nil {
		number = stopped.Stage
	}
	return &Stage{
		Number: number, Of: len(stages), Blocks: stages[number-1], Done: min(done, stages[number-1]),
		Level: StageLevels(s.header.Study)[number-1], Stopped: stopped != nil && number < len(stages),
	}
}

// stopOf returns where a run stopped; nil when it did not, or at no stage of
// its study.
func stopOf(header record.Header) *record.Stop {
	at, stages := header.Stopped, header.Study.Stages
	if at == nil || !sensible(stages) || at.Stage < 1 || at.Stage > len(stages) || stages[at.Stage-1] != at.Blocks {
		return nil
	}
	return at
}

// blocksDone returns the highest block that has a record, and up to which
// block every trial has one.
func (s *sorted) blocksDone() (begun, done int) {
	open := math.MaxInt
	for _, v := range s.views {
		if v.record != nil {
			begun = max(begun, v.plan.Block)
		} else {
			open = min(open, v.plan.Block)
		}
	}
	return begun, min(begun, open-1)
}

// level is what a p is held against, and 1 − the confidence of the intervals
// of comparisons and requirements. At a look that decides nothing it is that
// of a study without stages: something must be shown.
func (s *sorted) level() float64 {
	if s.stage == nil {
		return Level
	}
	return cmp.Or(s.stage.Level, Level)
}

// mute tells of a look at which no verdict is given.
func (s *sorted) mute() bool { return s.stage != nil && s.stage.Level == 0 }

// settle completes the stage by what was found at it; nil without stages.
func (s *sorted) settle(comparisons []Comparison, requirements []Requirement) *Stage {
	if s.stage == nil {
		return nil
	}
	asked, open := len(requirements), 0
	for _, c := range comparisons {
		if c.Primary {
			asked++
			open += rank(!s.settled(c))
		}
	}
	for _, r := range requirements {
		open += rank(r.State == Undecided)
	}
	out := *s.stage
	out.Settled = open == 0 && asked > 0 && out.Done == out.Blocks
	out.Sentence = out.words(open, asked, len(requirements) > 0)
	return &out
}

// settled tells whether more blocks have nothing to add to a comparison. An
// invalid one is settled when what makes it so lies in the design.
func (s *sorted) settled(c Comparison) bool {
	switch c.Verdict {
	case Better, Worse, Equivalent:
		return true
	case Invalid:
		return slices.ContainsFunc([]string{c.Arm, c.Base}, func(arm string) bool { return s.hopeless(c, arm) })
	}
	return false
}

// hopeless tells of an arm that no trial can run, that was overloaded where
// times are asked for, or whose client was the limit in every single trial of
// a comparison of servers.
func (s *sorted) hopeless(c Comparison, arm string) bool {
	views := s.at[place{c.Cell, arm}]
	ran, unsupported, clients := 0, 0, 0
	for _, v := range views {
		ran += rank(v.record != nil)
		unsupported += rank(v.trial.Status == StatusUnsupported)
		clients += rank(v.trial.Status == Valid && v.limitOf == contract.Client)
	}
	b := &pending{Comparison: c}
	switch {
	case ran == 0:
		return false
	case unsupported == ran, isLatency(c.Metric) && flagged(views, Overloaded) > 0:
		return true
	}
	return clients == ran && s.onlyServersDiffer(b) && s.pacedByClient(b)
}

// words says where a run stands among its stages.
func (g Stage) words(open, asked int, required bool) string {
	everything := "every primary comparison"
	if required {
		everything += " and requirement"
	}
	at := fmt.Sprintf("stage %d of %d (%d blocks)", g.Number, g.Of, g.Blocks)
	level := fmt.Sprintf("level %.3g", g.Level)
	switch {
	case g.Level == 0:
		return fmt.Sprintf("%s decides nothing: its blocks cannot reach a level that other stages leave", at)
	case g.Stopped && g.Settled:
		return fmt.Sprintf("stopped after %s: %s is settled at %s", at, everything, level)
	case g.Stopped:
		return fmt.Sprintf("stopped after %s at %s, although %d of %d questions are open", at, level, open, asked)
	case g.Done < g.Blocks:
		return fmt.Sprintf("interrupted after %d whole blocks, before %s: judged at that look's %s, and for now only", g.Done, at, level)
	case g.Number < g.Of:
		return fmt.Sprintf("at %s: judged at %s; %d of %d questions are open", at, level, open, asked)
	}
	return fmt.Sprintf("ran to the last stage, %s: judged at %s", at, level)
}

// confidence prints that of an interval: "95 %".
func confidence(level float64) string { return fmt.Sprintf("%.3g %%", 100*(1-level)) }
