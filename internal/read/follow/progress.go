package follow

import (
	"fmt"

	"netdyno/internal/record"
)

// State is what has become of a run.
type State string

// The states of a run. One that is incomplete was stopped, or broke off, and can go on.
const (
	Running    State = "running"
	Complete   State = "complete"
	Incomplete State = "incomplete"
)

// Progress is how far a run is.
type Progress struct {
	State   State
	Done    int // trials with a record
	Planned int // trials, up to the look at which the run ends at the latest
	Probes  int // of those that are done: trials for profiles, besides the blocks
	Profile int // of those that are planned: likewise
	Failed  int // of those that are done
}

// Words counts the trials, and by themselves the probes for profiles, which are no part of
// any block.
func (p Progress) Words() string {
	words := fmt.Sprintf("%d of %d trials", p.Done-p.Probes, p.Planned-p.Profile)
	if p.Profile > 0 {
		words += fmt.Sprintf(", %d of %d probes for profiles", p.Probes, p.Profile)
	}
	return words
}

// progressOf counts. Of the records only the trials' names and outcomes are read.
func progressOf(header record.Header, plan []record.Trial, records []record.Record, written bool) Progress {
	p := Progress{Done: len(records), State: Incomplete}
	horizon := record.Horizon(header, plan, records)
	for _, t := range plan {
		if t.Probe || t.Block <= horizon {
			p.Planned++
		}
		if t.Probe {
			p.Profile++
		}
	}
	for i := range records {
		if records[i].Trial.Probe {
			p.Probes++
		}
		if records[i].Outcome == record.Failed {
			p.Failed++
		}
	}
	switch {
	case written:
		p.State = Running
	case p.Done >= p.Planned:
		p.State = Complete
	}
	return p
}
