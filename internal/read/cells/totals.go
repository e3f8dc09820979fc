package cells

import (
	"netdyno/internal/hist"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Totals are what the clients of an arm counted in the windows of its trials: the valid
// ones, and those that are invalid because too many of their exchanges failed.
type Totals struct {
	Trials        int     `json:"trials"`
	WindowS       float64 `json:"window_s"`  // their windows, one after the other
	Exchanges     int64   `json:"exchanges"` // completed, without those that failed
	Failed        int64   `json:"failed"`
	SentBytes     int64   `json:"sent_bytes"` // of the payload
	ReceivedBytes int64   `json:"received_bytes"`
	Kind          string  `json:"kind"` // of the times: "service", or "response" in an open loop
	MaxUs         float64 `json:"max_us"`
	MaxAtLeast    bool    `json:"max_at_least,omitempty"` // something was left unfinished, or given up, and lasted longer than is known
	Times         []Bar   `json:"times,omitempty"`        // of valid trials, those of exchanges that drained included, and of the unfinished at their age

	Lengths *Lengths `json:"lengths,omitempty"` // of the replies, where they varied
}

// Bar counts the times that are longer than the bound of the bar before it.
type Bar struct {
	UpToUs float64 `json:"up_to_us,omitempty"` // and at most so long; 0 for the last one, which has no bound
	Count  int64   `json:"count"`
}

// totalsOf sums up what was counted in an arm's trials, but for their times; nil for a
// server of our own.
func totalsOf(judged []*trial.Judged) *Totals {
	var t Totals
	lengths := hist.New()
	for _, v := range judged {
		c := v.Counted
		if c.Kind == "" || v.Trial.Status == trial.StatusWarmUp || v.Trial.Status != trial.Valid && v.Trial.Errors == 0 {
			continue
		}
		t.Trials++
		t.WindowS += c.WindowS
		t.Exchanges += c.Exchanges
		t.Failed += v.Trial.Errors
		t.SentBytes += c.SentBytes
		t.ReceivedBytes += c.ReceivedBytes
		t.Kind = c.Kind
		if v.Trial.Status == trial.Valid && c.Lengths != nil {
			lengths.Merge(c.Lengths)
		}
	}
	if t.Trials == 0 {
		return nil
	}
	t.Lengths = lengthsOf(lengths)
	return &t
}

// bars are the counts from the first to the last that is not 0. What was left unfinished, or
// given up, is in the last one, which has no bound.
func bars(t record.Times) []Bar {
	counts, before := append(t.Most.Steps().UpTo(trial.TimeBounds), t.Most.Count()), int64(0)
	if t.Bounded() {
		ended := t.Most.Steps().UpTo([]int64{hist.MaxNs / 10 * 9})[0]
		for i := range trial.TimeBounds {
			counts[i] = min(counts[i], ended)
		}
	}
	for i, n := range counts {
		counts[i], before = n-before, n
	}
	first, last := 0, len(counts)
	for first < last && counts[first] == 0 {
		first++
	}
	for last > first && counts[last-1] == 0 {
		last--
	}
	var all []Bar
	for i := first; i < last; i++ {
		b := Bar{Count: counts[i]}
		if i < len(trial.TimeBounds) {
			b.UpToUs = float64(trial.TimeBounds[i]) / 1e3
		}
		all = append(all, b)
	}
	return all
}
