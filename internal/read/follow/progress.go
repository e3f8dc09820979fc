package follow

import (
	"time"

	"netdyno/internal/record"
)

// State is what has become of a run.
type State string

// The states of a run. One that is incomplete was stopped, or broke off, and can go on.
const (
	Running    State = "running"
	Complete   State = "complete"
	Incomplete State = "incomplete"
	Listening  State = "listening" // a server that netdyno listen started
)

// Progress is how far a run is.
type Progress struct {
	State   State
	Done    int // trials with a record
	Planned int // trials, up to the look at which the run ends at the latest
	Probes  int // of those that are done: trials for profiles, besides the blocks
	Failed  int // of those that are done
}

// progressOf counts. Of the records only the trials' names and outcomes are read.
func progressOf(header record.Header, plan []record.Trial, records []record.Record, written bool) Progress {
	p := Progress{Done: len(records), State: Incomplete}
	if len(header.Listen) > 0 {
		if p.Planned, p.State = p.Done, Complete; written {
			p.State = Listening
		}
		return p
	}
	horizon := record.Horizon(header, plan, records)
	for _, t := range plan {
		if t.Probe || t.Block <= horizon {
			p.Planned++
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

// left estimates the time that the trials without a record take, from what those with
// one took; false before there is one.
func left(p Progress, records []record.Record, underWay time.Duration) (time.Duration, bool) {
	if len(records) == 0 || p.State != Running {
		return 0, false
	}
	whole := time.Duration(0)
	for i := range records {
		whole += time.Duration(max(0, records[i].Timeline.EndNs))
	}
	one := whole / time.Duration(len(records))
	return max(0, one*time.Duration(max(0, p.Planned-p.Done))-min(one, underWay)), true
}
