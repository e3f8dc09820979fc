package finding

import (
	"math"

	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// curveShares are the percentiles of an arm's curves: 0, 5, … 85 %, 90, 90.5, …
// 98.5 %, and so on to five nines. The percentiles of the tables are among them.
var curveShares = func() []float64 {
	const decades, steps = 5, 18
	var shares []float64
	for of := 20; len(shares) < decades*steps; of *= 10 {
		for beyond := 20; beyond > 20-steps; beyond-- {
			shares = append(shares, float64(of-beyond)/float64(of))
		}
	}
	return shares
}()

// timesOf returns a trial's times in ns at the curve's shares, as far as enough
// values lie beyond them (METHOD §3.2); none without a histogram.
func timesOf(w *record.Window, kind string) []int64 {
	h, ok := w.Histogram(kind)
	if !ok {
		return nil
	}
	return h.Percentiles(curveShares)
}

// percentilesOf averages times by percentile over an arm's blocks, by the rule of every
// other figure, so that a curve and a table say the same. It ends at the last
// share that every valid trial has.
func percentilesOf(views []*view, times func(*view) []int64) []hist.Point {
	var points []hist.Point
	for i, share := range curveShares {
		var p pool
		for _, v := range views {
			if v.trial.Status != Valid {
				continue
			}
			all := times(v)
			if len(all) <= i {
				return points
			}
			p.add(v.plan.Block, float64(all[i]))
		}
		f, ok := p.figure()
		if !ok {
			return nil
		}
		points = append(points, hist.Point{Share: share, Ns: int64(math.Round(f.Value))})
	}
	return points
}
