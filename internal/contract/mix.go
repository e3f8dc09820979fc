package contract

import (
	"math"
	"slices"
	"strings"
)

// Bounds of what a load may mix.
const (
	MostClasses  = 64
	MostMixSteps = 16384     // segments of all tables of a load's classes and keys
	MostKey      = 1<<53 - 1 // the largest number that stands for {key}
)

// OtherPaths is the name under which a client counts the paths together for which it has no
// room (Result.Paths).
const OtherPaths = "other"

// Class is one kind of exchange of a load that mixes several.
type Class struct {
	Name      string `json:"name"`
	End       int64  `json:"end,omitempty"` // cumulative probability × 2³², as of a Segment; 0 where a trace says each exchange's class
	UpBytes   int64  `json:"up_bytes"`      // the largest, where UpSizes has several
	DownBytes int64  `json:"down_bytes"`
	UpSizes   Table  `json:"up_sizes,omitempty"` // not in a record
	DownSizes Table  `json:"down_sizes,omitempty"`

	// Of wires that have them.
	Method     string   `json:"method,omitempty"`      // of HTTP; of gRPC /package.Service/Method
	Path       string   `json:"path,omitempty"`        // of HTTP; {key} stands for a number from Load.Keys
	Headers    []string `json:"headers,omitempty"`     // of HTTP: "Name: value", in place of those of that name that all requests have
	Status     int      `json:"status,omitempty"`      // of HTTP: that every reply must have; 0 for any 2xx
	DeadlineNs int64    `json:"deadline_ns,omitempty"` // after which an exchange has failed; 0 is without

	ThinkNs int64 `json:"think_ns,omitempty"` // closed loop: pause after an exchange of the class; 0 is without
}

// Trace is recorded traffic that a load replays (MIXES.md, section Recorded traffic).
type Trace struct {
	File     string  `json:"file"`               // on the worker's host
	Begins   int64   `json:"begins"`             // where the body begins in it, in bytes
	FromNs   int64   `json:"from_ns,omitempty"`  // the moment of the trace that is t0
	Speed    float64 `json:"speed"`              // of the replay by that of the recording
	Part     int     `json:"part,omitempty"`     // of Parts, in turn, is this client's
	Parts    int     `json:"parts,omitempty"`    // 0 means 1
	Even     bool    `json:"even,omitempty"`     // the larger size goes both ways, at least 1 byte
	Times    bool    `json:"times,omitempty"`    // it says when exchanges are due, and nothing of what they carry
	SpanNs   int64   `json:"span_ns,omitempty"`  // from the first request to the last, for readers of records
	Recorded int64   `json:"recorded,omitempty"` // requests, for readers
}

// ClassResult is what a client counted of one class, as Result counts all; or of one path,
// or of one step of a rate that changes.
type ClassResult struct {
	Name          string `json:"name"`
	Exchanges     int64  `json:"exchanges"` // completed inside the window; of a step: inside the step
	SentBytes     int64  `json:"sent_bytes"`
	ReceivedBytes int64  `json:"received_bytes"`
	Errors        int64  `json:"errors,omitempty"`
	Late          int64  `json:"late,omitempty"` // of Errors, those of kind timeout
	Drained       int64  `json:"drained,omitempty"`
	Unfinished    int64  `json:"unfinished,omitempty"` // in flight when draining ended; of a step: those that were never sent, too
	Service       string `json:"service,omitempty"`    // of Exchanges and Drained; of a step: of those that were due in it
	Response      string `json:"response,omitempty"`
}

// Slots counts a client's places for an exchange in flight: those of each connection that
// carries load, of which there is one at least.
func (l Load) Slots() float64 {
	active := float64(l.Connections)
	if l.ActiveShare > 0 && l.ActiveShare < 1 {
		active = max(min(active, 1), math.Ceil(l.ActiveShare*active-1e-9))
	}
	return active * float64(max(1, l.InFlight))
}

// Deadlines tells whether exchanges, or connections, have one.
func (l Load) Deadlines() bool {
	return l.DeadlineNs > 0 || l.ConnectNs > 0 || slices.ContainsFunc(l.Classes, func(c Class) bool { return c.DeadlineNs > 0 })
}

// Thinks tells whether slots pause after exchanges of any class.
func (l Load) Thinks() bool {
	return slices.ContainsFunc(l.Classes, func(c Class) bool { return c.ThinkNs > 0 })
}

// Headed tells whether any class has headers of its own.
func (l Load) Headed() bool {
	return slices.ContainsFunc(l.Classes, func(c Class) bool { return len(c.Headers) > 0 })
}

// OneSizeEach tells whether the load has classes of which each has one size, so that a client
// draws none.
func (l Load) OneSizeEach() bool {
	drawn := func(c Class) bool { return len(c.UpSizes)+len(c.DownSizes) > 0 }
	return len(l.Classes) > 0 && (l.Trace == nil || l.Trace.Times) && !slices.ContainsFunc(l.Classes, drawn)
}

// Calls tells whether the method of any class is one of gRPC.
func (l Load) Calls() bool {
	return slices.ContainsFunc(l.Classes, func(c Class) bool { return strings.HasPrefix(c.Method, "/") })
}

// SizeBin is what a client counted of the exchanges whose larger message has a size of one
// bin: histograms of times, of the window and of what was drained. Behind and Free are of
// small exchanges, and together they are Response, in a closed loop Service.
type SizeBin struct {
	FromBytes int64  `json:"from_bytes"`
	ToBytes   int64  `json:"to_bytes"` // exclusive
	Service   string `json:"service,omitempty"`
	Response  string `json:"response,omitempty"`
	Behind    string `json:"behind,omitempty"` // of those that had a larger one on their connection as they were due or sent
	Free      string `json:"free,omitempty"`   // of the others
}
