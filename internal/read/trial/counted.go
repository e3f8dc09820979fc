package trial

import (
	"encoding/binary"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// Counted is what the clients of a trial counted in its window. The zero value is of a
// trial whose server is netdyno's own: studies ask for its rates alone.
type Counted struct {
	WindowS       float64 // the longest of the clients'
	Exchanges     int64   // completed, without those that failed
	SentBytes     int64   // of their payload
	ReceivedBytes int64
	Kind          string // of the times: record.Response in an open loop, else record.Service
	MaxNs         int64
	Lengths       *hist.Histogram // of the replies, in bytes, those that drained included; nil where they are not known
	Times         []int64         // exchanges by TimeBounds that took at most so long, those that drained included; nil where none were timed
}

// TimeBounds are those by which times are counted, in ns, rising: 1, 2, 3 and 5 of each
// decade, so that bars of half a decade, of a third and of a whole one are sums of them.
var TimeBounds = func() []int64 {
	const from, decades = 1e3, 9
	var bounds []int64
	for decade, i := int64(from), 0; i < decades; decade, i = decade*10, i+1 {
		bounds = append(bounds, decade, 2*decade, 3*decade, 5*decade)
	}
	return bounds
}()

// countedOf counts what a server named by its address answered.
func countedOf(e *audit) Counted {
	if !e.servedElsewhere() {
		return Counted{}
	}
	c := Counted{Kind: record.Service, Lengths: lengthsOf(e)}
	for _, g := range e.generators {
		if g.Result == nil {
			continue
		}
		if s, ok := g.ResultSeconds(); ok {
			c.WindowS = max(c.WindowS, s)
		}
		c.Exchanges += g.Result.Counts.Exchanges
		c.SentBytes += g.Result.Counts.SentBytes
		c.ReceivedBytes += g.Result.Counts.ReceivedBytes
	}
	if e.open {
		c.Kind = record.Response
	}
	if t, ok := e.window.Histogram(c.Kind); ok {
		c.MaxNs, c.Times = t.MaxNs(), t.Steps().UpTo(TimeBounds)
		c.Times = append(c.Times, t.Count()) // the last bar has no bound
	}
	return c
}

// lengthsOf returns how long the replies of all clients were; nil where one does not tell.
func lengthsOf(e *audit) *hist.Histogram {
	all := hist.New()
	for _, g := range e.generators {
		lengths, ok := e.window.Lengths(g)
		if !ok {
			return nil
		}
		all.Merge(lengths)
	}
	return all
}

// servedElsewhere tells whether the trial's server is not one of netdyno's.
func (e *audit) servedElsewhere() bool {
	for w := range e.workers() {
		if w.Role == contract.Server && (w.Elsewhere() || Foreign(w)) {
			return true
		}
	}
	return false
}

// Shares are the percentiles of an arm's curves: 0, 5, … 85 %, 90, 90.5, …
// 98.5 %, and so on to five nines. The percentiles of the tables are among them.
var Shares = func() []float64 {
	const decades, steps = 5, 18
	var shares []float64
	for of := 20; len(shares) < decades*steps; of *= 10 {
		for beyond := 20; beyond > 20-steps; beyond-- {
			shares = append(shares, float64(of-beyond)/float64(of))
		}
	}
	return shares
}()

// Curve is a kind of a trial's times by percentile.
type Curve struct {
	steps []byte // between Ns, as varints: a large run has a million times
	Exact int    // how many of Shares unfinished exchanges cannot raise; Ns beyond are lower bounds
}

// Ns returns the times at Shares, as far as enough values lie beyond them (specification
// §3.2).
func (c Curve) Ns() []int64 {
	all := make([]int64, 0, len(Shares))
	at := int64(0)
	for left := c.steps; len(left) > 0; {
		step, n := binary.Varint(left)
		left = left[n:]
		at += step
		all = append(all, at)
	}
	return all
}

func newCurve(ns []int64, exact int) Curve {
	var room [4 * 90]byte // of most curves
	steps, last := room[:0], int64(0)
	for _, at := range ns {
		steps, last = binary.AppendVarint(steps, at-last), at
	}
	return Curve{slices.Clone(steps), exact}
}

// curveOf returns a trial's times; without a histogram there are none.
func curveOf(w *record.Window, kind string) Curve {
	t, ok := w.Times(kind)
	if !ok {
		return Curve{}
	}
	return newCurve(t.Least.Percentiles(Shares), metric.Exact(t, Shares))
}
