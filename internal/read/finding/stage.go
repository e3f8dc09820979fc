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
	Number   int     `json:"number"` // from 1, of all looks
	Of       int     `json:"of"`
	Own      int     `json:"own,omitempty"`  // of those, how many a run takes by itself
	Next     int     `json:"next,omitempty"` // blocks of the look after this one, which decides what is open here; 0 when there is none
	Blocks   int     `json:"blocks"`         // that the look has
	Done     int     `json:"done"`           // of them, those that have all their records
	Level    float64 `json:"level"`          // that verdicts need here; 0 when this look can decide nothing
	Settled  bool    `json:"settled"`        // no primary comparison and no requirement is open
	Stopped  bool    `json:"stopped"`        // the run ended here, before its last stage
	Sentence string  `json:"sentence"`       // in words
}

// Look says whether a run may stop after one of its study's looks, counted from
// 1, by the records of that look's blocks. Later records are left out. It fails
// where Find fails, and for a look that the study does not have.
func Look(header record.Header, trials []record.Trial, records []record.Record, stage int) (Stage, error) {
	looks := header.Study.Looks()
	if len(looks) < 2 || stage < 1 || stage > len(looks) {
		return Stage{}, fmt.Errorf("look at stage %d: the study has %d stages", stage, len(looks))
	}
	blocks := looks[stage-1]
	header.Stopped = &record.Stop{Stage: stage, Blocks: blocks}
	records = slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool { return r.Trial.Block > blocks })
	s, err := read(header, trials, records)
	if err != nil {
		return Stage{}, err
	}
	noise := s.noise()
	return *s.settle(s.compare(noise), s.require(noise)), nil
}

// StageLevels returns the level of each look; of a study with one, that of it.
func StageLevels(study record.Study) []float64 { return stat.StageLevels(study.Looks(), Level) }

// staged finds the look that a run is at: where it stopped, else the first one
// that is not behind its records. Nil for a study with one look.
func (s *dataset) staged() *Stage {
	looks := s.header.Study.Looks()
	if len(looks) < 2 {
		return nil
	}
	begun, done := s.blocksDone()
	number := slices.IndexFunc(looks, func(blocks int) bool { return blocks >= begun }) + 1
	if number == 0 {
		number = len(looks)
	}
	stopped := s.header.StoppedAt()
	if stopped != nil {
		number = stopped.Stage
	}
	own := slices.Index(looks, s.header.Study.Blocks) + 1
	return &Stage{
		Number: number, Of: len(looks), Own: own, Blocks: looks[number-1], Next: s.header.Study.NextLook(looks[number-1]),
		Done: min(done, looks[number-1]), Level: StageLevels(s.header.Study)[number-1], Stopped: stopped != nil && number < own,
	}
}

// blocksDone returns the highest block that has a record, and up to which
// block every trial has one.
func (s *dataset) blocksDone() (begun, done int) {
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
func (s *dataset) level() float64 {
	if s.stage == nil {
		return Level
	}
	return cmp.Or(s.stage.Level, Level)
}

// mute tells of a look at which no verdict is given.
func (s *dataset) mute() bool { return s.stage != nil && s.stage.Level == 0 }

// settle completes the stage by what was found at it; nil without stages. Where
// nothing is asked, nothing is open.
func (s *dataset) settle(comparisons []Comparison, requirements []Requirement) *Stage {
	if s.stage == nil {
		return nil
	}
	asked, open := len(requirements), 0
	for _, c := range comparisons {
		if c.Primary {
			asked++
			open += oneIf(!s.settled(c))
		}
	}
	for _, r := range requirements {
		open += oneIf(r.State == Undecided)
	}
	out := *s.stage
	out.Settled = open == 0 && out.Done == out.Blocks
	out.Sentence = s.stageWords(out, open, asked, len(requirements) > 0)
	return &out
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}

// settled tells whether more blocks have nothing to add to a comparison. An
// invalid one is settled when what makes it so lies in the design.
func (s *dataset) settled(c Comparison) bool {
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
func (s *dataset) hopeless(c Comparison, arm string) bool {
	views := s.of(c.Cell, arm)
	ran, unsupported, clients := 0, 0, 0
	for _, v := range views {
		ran += oneIf(v.record != nil)
		unsupported += oneIf(v.trial.Status == StatusUnsupported)
		clients += oneIf(v.trial.Status == Valid && v.limitOf == contract.Client)
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

// stageWords says where a run stands among its looks, and how it goes on.
func (s *dataset) stageWords(g Stage, open, asked int, required bool) string {
	everything := "every primary comparison"
	if required {
		everything += " and requirement"
	}
	at := fmt.Sprintf("stage %d of %d (%d blocks)", g.Number, g.Of, g.Blocks)
	level := fmt.Sprintf("level %.3g", g.Level)
	left := fmt.Sprintf("%d of %d questions are open", open, asked)
	switch {
	case g.Level == 0:
		mute := fmt.Sprintf("%s decides nothing: its blocks cannot reach a level that other stages leave", at)
		if g.Next > 0 && !g.Stopped {
			mute += fmt.Sprintf("; %s goes on to %d blocks", s.goOn(), g.Next)
		}
		return mute
	case g.Done < g.Blocks:
		return fmt.Sprintf("interrupted after %d whole blocks, before %s: judged at that look's %s, and for now only; %s goes on", g.Done, at, level, s.goOn())
	case asked == 0:
		return fmt.Sprintf("ended at %s: nothing is compared", at)
	case g.Settled && g.Stopped:
		return fmt.Sprintf("stopped after %s: %s is settled at %s", at, everything, level)
	case g.Settled:
		return fmt.Sprintf("at %s: %s is settled at %s", at, everything, level)
	case g.Next == 0:
		return fmt.Sprintf("ran to the last stage, %s: judged at %s; %s", at, level, left)
	case g.Stopped: // a look on the way, or a run that later rules judge otherwise
		return fmt.Sprintf("at %s: judged at %s; %s", at, level, left)
	}
	return fmt.Sprintf("at %s: judged at %s; %s, and %s goes on to %d blocks", at, level, left, s.goOn(), g.Next)
}

// confidence prints that of an interval: "95 %".
func confidence(level float64) string { return fmt.Sprintf("%.3g %%", 100*(1-level)) }
