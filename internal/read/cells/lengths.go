package cells

import (
	"netdyno/internal/hist"
	"netdyno/internal/quantity"
)

// Lengths is how long an arm's replies were, where they were not all the same.
type Lengths struct {
	Replies    int64       `json:"replies"` // of valid trials, those that drained included
	LeastBytes int64       `json:"least_bytes"`
	P50Bytes   int64       `json:"p50_bytes,omitempty"` // to three digits, where enough replies lie beyond it
	P99Bytes   int64       `json:"p99_bytes,omitempty"`
	MostBytes  int64       `json:"most_bytes"`
	Bars       []LengthBar `json:"bars"`
}

// LengthBar counts the replies that are longer than the bound of the bar before it.
type LengthBar struct {
	UpToBytes int64 `json:"up_to_bytes"`
	Count     int64 `json:"count"`
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
	l.Bars = lengthBars(all, l.LeastBytes, l.MostBytes)
	return l
}

// mostLengthBars bounds the bars of lengths.
const mostLengthBars = 6

// lengthBars counts replies by powers of two, or by even steps where the longest is
// at most four times the shortest.
func lengthBars(all *hist.Histogram, least, most int64) []LengthBar {
	bounds := lengthBounds(least, most)
	bars, before := make([]LengthBar, len(bounds)), int64(0)
	for i, n := range all.Steps().UpTo(bounds) {
		bars[i], before = LengthBar{UpToBytes: bounds[i], Count: n - before}, n
	}
	return bars
}

// lengthBounds are the upper bounds of the bars, rising: the shortest reply lies at or
// below the first, the longest alone at or below the last.
func lengthBounds(least, most int64) []int64 {
	if most <= 4*max(least, 1) {
		step := evenStep(most - least)
		var bounds []int64
		for bound := (least + step - 1) / step * step; ; bound += step {
			if bounds = append(bounds, bound); bound >= most {
				return bounds
			}
		}
	}
	for doublings := 1; ; doublings++ {
		bounds := []int64{1}
		for bounds[0] < least {
			bounds[0] <<= 1
		}
		for last := bounds[0]; last < most; bounds = append(bounds, last) {
			last <<= doublings
		}
		if len(bounds) <= mostLengthBars {
			return bounds
		}
	}
}

// evenStep is the smallest of 1, 2, 5, 10, … that covers a span of bytes in few steps.
func evenStep(span int64) int64 {
	for decade := int64(1); ; decade *= 10 {
		for _, step := range []int64{decade, 2 * decade, 5 * decade} {
			if step*(mostLengthBars-2) >= span {
				return step
			}
		}
	}
}
