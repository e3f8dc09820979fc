package cells

import (
	"cmp"
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// Level is the significance that a verdict needs, of adjusted p values; the
// looks of a study share it out.
const Level = 0.05

// Look says at which of a study's declared looks a run is judged (specification
// §6.10).
type Look struct {
	Number   int     `json:"number"` // from 1, of all looks
	Of       int     `json:"of"`
	Own      int     `json:"own,omitempty"`     // looks that a run takes by itself
	Next     int     `json:"next,omitempty"`    // blocks of the look after this one, which decides what is open here; 0 when there is none
	Blocks   int     `json:"blocks"`            // that the look has
	Done     int     `json:"done"`              // of them, those that have all their records
	Level    float64 `json:"level"`             // that verdicts need here; 0 when this look can decide nothing
	Settled  bool    `json:"settled"`           // no primary comparison and no requirement is open
	TimeUp   bool    `json:"time_up,omitempty"` // the run ends here as the time is over that its rates had to become known
	Stopped  bool    `json:"stopped"`           // the run ended here, before the last look that it takes by itself
	Sentence string  `json:"sentence"`          // in words
}

// Levels returns the level of each look.
func (e Ends) Levels() []float64 { return stat.LookLevels(e.Looks, e.Blocks, Level) }

// atLook finds the look that a run is at: the look at which it stopped, else the first
// look whose blocks have not all been recorded. Nil for a study with one look.
func (s *Dataset) atLook() *Look {
	looks := s.Looks
	if len(looks) < 2 {
		return nil
	}
	begun, done := s.blocksDone()
	number := slices.IndexFunc(looks, func(blocks int) bool { return blocks >= begun }) + 1
	if number == 0 {
		number = len(looks)
	}
	if s.Stopped != nil {
		number = s.Stopped.Look
	}
	own, next := slices.Index(looks, s.Blocks)+1, 0
	if number < len(looks) {
		next = looks[number]
	}
	return &Look{
		Number: number, Of: len(looks), Own: own, Blocks: looks[number-1], Next: next,
		Done: min(done, looks[number-1]), Level: s.Levels()[number-1], Stopped: s.Stopped != nil && number < own,
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
// of a study with one look: something must be shown.
func (s *Dataset) Level() float64 {
	if s.Look == nil {
		return Level
	}
	return cmp.Or(s.Look.Level, Level)
}

// NoVerdict tells whether the run stands at a look that can decide nothing.
func (s *Dataset) NoVerdict() bool { return s.Look != nil && s.Look.Level == 0 }
