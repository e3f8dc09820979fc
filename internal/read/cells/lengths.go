package cells

import (
	"netdyno/internal/hist"
	"netdyno/internal/quantity"
)

// Lengths is how long an arm's replies were, where they were not all the same.
type Lengths struct {
	Replies    int64 `json:"replies"` // of valid trials, those that drained included
	LeastBytes int64 `json:"least_bytes"`
	P50Bytes   int64 `json:"p50_bytes,omitempty"` // to three digits, where enough replies lie beyond it
	P99Bytes   int64 `json:"p99_bytes,omitempty"`
	MostBytes  int64 `json:"most_bytes"`
}

// Words say it in one clause: "replies of 120 B to 4.1 KiB: p50 1.2 KiB, p99 4 KiB".
func (l *Lengths) Words() string {
	bytes := func(n int64) string { return quantity.FormatBytes(float64(n)) }
	text := "replies of " + bytes(l.LeastBytes) + " to " + bytes(l.MostBytes)
	if l.P50Bytes > 0 {
		text += ": p50 " + bytes(l.P50Bytes)
	}
	if l.P99Bytes > 0 {
		text += ", p99 " + bytes(l.P99Bytes)
	}
	return text
}

// lengthsOf describes the replies; nil where all had the same length.
func lengthsOf(all *hist.Histogram) *Lengths {
	if len(all.Steps()) < 2 {
		return nil
	}
	l := &Lengths{Replies: all.Count(), LeastBytes: all.LeastNs(), MostBytes: all.MaxNs()}
	l.P50Bytes, _ = all.Percentile(0.5)
	l.P99Bytes, _ = all.Percentile(0.99)
	return l
}
