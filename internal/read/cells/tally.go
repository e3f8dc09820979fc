package cells

import "netdyno/internal/read/trial"

// CountTrials counts the trials and how much of the run's time they measured in.
func (s *Dataset) CountTrials() Tally {
	t := Tally{Planned: len(s.Trials), Skipped: s.skipped, Probes: len(s.Probes)}
	inside, whole := 0.0, 0.0
	for _, v := range s.Trials {
		switch v.Trial.Status {
		case trial.Valid:
			t.Valid++
			t.Partial += rank(v.Trial.Partial())
		case trial.StatusFailed:
			t.Failed++
		case trial.StatusInvalid:
			t.Invalid++
		case trial.StatusUnsupported:
			t.Unsupported++
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
	Partial     int     `json:"partial,omitempty"` // of the valid ones, those without rates: they stood still or began with a backlog
	Unsupported int     `json:"unsupported"`
	Missing     int     `json:"missing"`             // planned, no record (yet)
	Unplanned   int     `json:"unplanned,omitempty"` // records of trials outside the plan, which are left out
	Skipped     int     `json:"skipped,omitempty"`   // not planned any more, as the run stopped at a stage
	Probes      int     `json:"probes,omitempty"`
	WindowShare float64 `json:"window_share"` // share of the run's time inside windows and declared warm-up
}
