package cells

import (
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Level is the significance that a verdict needs, of adjusted p values; the
// stages of a study share it out.
const Level = 0.05

// Stage says at which of a study's declared looks a run is judged (specification
// §6.10).
type Stage struct {
	Number   int     `json:"number"` // from 1, of all looks
	Of       int     `json:"of"`
	Own      int     `json:"own,omitempty"`     // of those, how many a run takes by itself
	Next     int     `json:"next,omitempty"`    // blocks of the look after this one, which decides what is open here; 0 when there is none
	Blocks   int     `json:"blocks"`            // that the look has
	Done     int     `json:"done"`              // of them, those that have all their records
	Level    float64 `json:"level"`             // that verdicts need here; 0 when this look can decide nothing
	Settled  bool    `json:"settled"`           // no primary comparison and no requirement is open
	TimeUp   bool    `json:"time_up,omitempty"` // the run ends here as the time is over that its rates had to become known
	Stopped  bool    `json:"stopped"`           // the run ended here, before its last stage
	Sentence string  `json:"sentence"`          // in words
}

// StageLevels returns the level of each look; of a study with one, that of it.
func StageLevels(study record.Study) []float64 { return stat.StageLevels(study.Looks(), Level) }
