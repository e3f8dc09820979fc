// Package trial judges one record: whether its counters agree, which flags it
// carries, what limited it, and which of its figures may be used. It knows no
// other trial, except that a link's capacity is found over all of a run.
package trial

import "slices"

// The statuses of a trial.
const (
	Valid             = "valid"
	StatusInvalid     = "invalid"
	StatusFailed      = "failed"
	StatusUnsupported = "unsupported"
	StatusMissing     = "missing" // planned, no record yet
)

// The flags of a trial.
const (
	Unsteady      = "unsteady"
	Overloaded    = "overloaded"
	LateCounters  = "late-counters"
	GeneratorLate = "generator-late"
	StolenCPU     = "stolen-cpu"
	Reconnected   = "reconnected"
	Unverified    = "unverified"
	Bursty        = "bursty"
	TooRegular    = "too-regular"
	Unfinished    = "unfinished"
	Reflected     = "reflected"
	Stalled       = "stalled"
	Backlog       = "backlog"

	FewSamples = "few-samples" // of a metric that some of an arm's trials lack
)

// Trial is one record as the reader sees it.
type Trial struct {
	ID         string             `json:"id"`
	Block      int                `json:"block"`
	Repeat     bool               `json:"repeat,omitempty"`
	Status     string             `json:"status"` // "valid", "invalid", "failed", "unsupported"
	Reason     string             `json:"reason,omitempty"`
	Flags      []string           `json:"flags,omitempty"`  // names of flags, in the order of METHOD §2.3
	Errors     int64              `json:"errors,omitempty"` // exchanges that failed, for which the trial is invalid
	Values     map[string]float64 `json:"values,omitempty"`
	Moved      map[string]float64 `json:"moved,omitempty"`  // percentiles that the unfinished would move, and what they are at the least
	Stalls     []Stall            `json:"stalls,omitempty"` // when nothing moved inside the window
	Limit      Limit              `json:"limit,omitempty"`
	LimitProof string             `json:"limit_proof,omitempty"`
	Series     []Slice            `json:"series,omitempty"`
	CPU        []CPUSplit         `json:"cpu,omitempty"`
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
	Of    string             `json:"of"`    // "server", "client", "host"
	Cores map[string]float64 `json:"cores"` // "user", "system"; for the host also "irq", "softirq", "steal", "idle"
}

// Partial tells whether a valid trial lacks the figures that a standstill or a
// backlog falsifies.
func (t Trial) Partial() bool {
	return t.Status == Valid && (slices.Contains(t.Flags, Stalled) || slices.Contains(t.Flags, Backlog))
}

// ErrorShare is the one metric to which an invalid trial has something to say:
// one that is invalid because exchanges failed. It is 0 wherever none did, so
// its mean is arithmetic everywhere.
const ErrorShare = "error_share"
