package finding

import (
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Sent is how many requests a run by URL sent to its servers, in all trials, valid or not:
// what a log of theirs has counted.
type Sent struct {
	Requests int64 `json:"requests"` // the sum of the others
	Probe    int64 `json:"probe"`    // to learn how to ask, whether the client can, and what is wrong after a failed trial
	Verify   int64 `json:"verify"`   // by clients before they were ready
	Warmup   int64 `json:"warmup"`   // ended before the window
	Window   int64 `json:"window"`   // in the window
	After    int64 `json:"after"`    // ended after the window, or never
	Again    int64 `json:"again"`    // sent once more

	Untold int `json:"untold_trials,omitempty"` // trials, that of the chosen client before the run too, with a client that does not tell
}

// sentBy sums up what a run sent; nil for a run that no command asked for.
func sentBy(header record.Header, trials []*trial.Judged) *Sent {
	if len(header.Asked) == 0 {
		return nil
	}
	var s Sent
	for _, a := range header.Asked {
		s.Probe += a.Probe + a.Client
		s.After += a.Rest
		if a.Untold {
			s.Untold++
		}
	}
	var all contract.Sent
	for _, a := range header.Again {
		if a.Sent == nil {
			s.Untold++
			continue
		}
		all = all.Plus(*a.Sent)
	}
	for _, t := range trials {
		if t.Record == nil {
			continue
		}
		if t.Record.Failure != nil {
			s.Probe += t.Record.Failure.Asked
		}
		sent, known := t.Record.Sent()
		all = all.Plus(sent)
		if !known {
			s.Untold++
		}
	}
	s.Requests = s.Probe + s.After + all.All()
	s.After += all.Drain
	s.Verify, s.Warmup, s.Window, s.Again = all.Verify, all.Before, all.Window, all.Again
	return &s
}

// Words are one clause, with what is 0 left out.
func (s Sent) Words() string {
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{
		{s.Probe, "beforehand"}, {s.Verify, "to verify"}, {s.Warmup, "warming up"}, {s.Window, "measured"},
		{s.After, "after the window"}, {s.Again, "again"},
	} {
		if p.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", p.n, p.what))
		}
	}
	text := "sent " + quantity.Plural(int(s.Requests), "request") + ": " + strings.Join(parts, ", ")
	if s.Untold > 0 {
		text += fmt.Sprintf("; %s did not tell", quantity.Plural(s.Untold, "trial"))
	}
	return text
}
