package record

import (
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
)

// Disturbance is what the machine did to a trial, told by evidence that holds none of the
// trial's results. The zero value is none.
type Disturbance struct {
	Why   string `json:"why"`    // a clause: "client-1 and its meter did not run"
	ForNs int64  `json:"for_ns"` // that lasted so long
}

// String is the clause with its time; "" for none.
func (d Disturbance) String() string {
	if d.Why == "" {
		return ""
	}
	return d.Why + " for " + quantity.FormatDuration(time.Duration(d.ForNs).Round(time.Millisecond))
}

// Attempt is a trial that the machine disturbed, and that was therefore made again. Its
// record is kept in records.jsonl and counts nowhere.
type Attempt struct {
	Trial string `json:"trial"` // ID
	Disturbance
	Sent *contract.Sent `json:"sent,omitempty"` // by its clients; absent where one does not tell
}

// attempt is the line of an Attempt.
type attempt struct {
	Disturbance
	Record Record `json:"record"`
}

func (a *attempt) read() Attempt {
	read := Attempt{Trial: a.Record.Trial.ID, Disturbance: a.Disturbance}
	if sent, known := a.Record.Sent(); known {
		read.Sent = &sent
	}
	return read
}
