package trial

import (
	"netdyno/internal/metric"
	"netdyno/internal/record"
)

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
	Ns    []int64 // at Shares, as far as enough values lie beyond them (specification §3.2)
	Exact int     // how many of Shares unfinished exchanges cannot raise; Ns beyond are lower bounds
}

// curveOf returns a trial's times; without a histogram there are none.
func curveOf(w *record.Window, kind string) Curve {
	t, ok := w.Times(kind)
	if !ok {
		return Curve{}
	}
	return Curve{t.Least.Percentiles(Shares), metric.Exact(t, Shares)}
}
