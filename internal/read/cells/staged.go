package cells

import (
	"cmp"
	"math"
	"slices"
)

// staged finds the look that a run is at: where it stopped, else the first one
// that is not behind its records. Nil for a study with one look.
func (s *Dataset) staged() *Stage {
	looks := s.Header.Study.Looks()
	if len(looks) < 2 {
		return nil
	}
	begun, done := s.blocksDone()
	number := slices.IndexFunc(looks, func(blocks int) bool { return blocks >= begun }) + 1
	if number == 0 {
		number = len(looks)
	}
	stopped := s.Header.StoppedAt()
	if stopped != nil {
		number = stopped.Stage
	}
	own := slices.Index(looks, s.Header.Study.Blocks) + 1
	return &Stage{
		Number: number, Of: len(looks), Own: own, Blocks: looks[number-1], Next: s.Header.Study.NextLook(looks[number-1]),
		Done: min(done, looks[number-1]), Level: StageLevels(s.Header.Study)[number-1], Stopped: stopped != nil && number < own,
	}
}

// blocksDone returns the highest block that has a record, and up to which
// block every trial has one.
func (s *Dataset) blocksDone() (begun, done int) {
	open := math.MaxInt
	for _, v := range s.Trials {
		if v.Record != nil {
			begun = max(begun, v.Plan.Block)
		} else {
			open = min(open, v.Plan.Block)
		}
	}
	return begun, min(begun, open-1)
}

// Level is what a p is held against, and 1 − the confidence of the intervals
// of comparisons and requirements. At a look that decides nothing it is that
// of a study without stages: something must be shown.
func (s *Dataset) Level() float64 {
	if s.Stage == nil {
		return Level
	}
	return cmp.Or(s.Stage.Level, Level)
}

// NoVerdict tells whether the run stands at a look that can decide nothing.
func (s *Dataset) NoVerdict() bool { return s.Stage != nil && s.Stage.Level == 0 }
