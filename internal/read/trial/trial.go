// Package trial judges one record: whether its counters agree, which flags it carries,
// what limited it, and which of its figures may be used. It looks at no other trial,
// except that a link's capacity is found over all trials of a run.
package trial

import (
	"netdyno/internal/contract"
	"netdyno/internal/metric"
)

// Limit names the resource that bounded a trial.
type Limit string

// Stall is a time in which a worker did not run, in seconds since the opening.
type Stall struct {
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	Of    string  `json:"of,omitempty"` // what did not run, as a clause
}

// The statuses of a trial.
const (
	Valid             = "valid"
	StatusInvalid     = "invalid"
	StatusFailed      = "failed"
	StatusUnsupported = "unsupported"
	StatusMissing     = "missing" // planned, no record yet
	StatusWarmUp      = "warm-up" // a valid turn in which a server still became faster: no figure is of it
)

// Trial is one record as the reader sees it.
type Trial struct {
	ID         string             `json:"id"`
	Block      int                `json:"block"`
	Repeat     bool               `json:"repeat,omitempty"`
	TurnS      float64            `json:"-"`      // how long its turn of a load that went on lasted, in s; 0 for a load of its own
	Alternated bool               `json:"-"`      // its turn was slices between those of others
	Threads    float64            `json:"-"`      // of servers that were busy; of a turn that alternated
	Status     string             `json:"status"` // "valid", "invalid", "failed", "unsupported"
	Reason     string             `json:"reason,omitempty"`
	Flags      []string           `json:"flags,omitempty"`   // names of flags, in the order of specification §2.3
	Errors     int64              `json:"errors,omitempty"`  // exchanges that failed; the trial is invalid where they are more than its study allows
	Reasons    []contract.Reason  `json:"reasons,omitempty"` // why they failed, the most frequent first
	Values     metric.Values      `json:"values,omitzero"`
	Moved      map[string]float64 `json:"moved,omitempty"`          // the figures of Values that are lower bounds, as unfinished exchanges would raise them
	Stalls     []Stall            `json:"stalls,omitempty"`         // when a worker did not run
	Others     float64            `json:"others,omitempty"`         // share of the time of the CPUs that its workers might use which other processes used; 0 where that is below 10 % or not known
	Beside     float64            `json:"-"`                        // Others, also below 10 %; 0 where it is not known
	Waited     float64            `json:"waited_for_cpu,omitempty"` // beside others: share of the exchanges' time for which they waited for a CPU; 1 where that is not known
	Limit      Limit              `json:"limit,omitempty"`
	LimitProof string             `json:"limit_proof,omitempty"`
	Series     []Slice            `json:"series,omitempty"`
	CPU        []CPUSplit         `json:"cpu,omitempty"`

	Times Times   `json:"-"` // of all kinds; nil where there are none
	Ended float64 `json:"-"` // exchanges, completed or failed
}

// Slice is one step of a trial's series, clients summed.
type Slice struct {
	AtS           float64 `json:"at_s"` // since start, seconds
	ExchangesPerS float64 `json:"exchanges_per_s"`
	InWindow      bool    `json:"in_window"`
}

// CPUSplit says where one worker's or one host's CPU time went in the window,
// in cores (CPU seconds per second).
type CPUSplit struct {
	Of    string `json:"of"`    // "server", "client", "host"
	Cores Cores  `json:"cores"` // "user", "system"; for the host also "irq", "softirq", "steal", "idle"
}

// AtLeast tells whether a trial's figure is a lower bound: exchanges that were left
// unfinished would raise it.
func (t Trial) AtLeast(metric string) bool {
	_, moved := t.Moved[metric]
	return moved
}
