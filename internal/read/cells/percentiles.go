package cells

import (
	"math"

	"netdyno/internal/hist"
	"netdyno/internal/read/trial"
)

// percentilesOf averages times by percentile over an arm's blocks, by the rule of every
// other figure, so that a curve and a table say the same. It ends at the last
// share that every valid trial has.
func percentilesOf(judged []*trial.Judged, times func(*trial.Judged) trial.Curve) []hist.Point {
	var points []hist.Point
	for i, share := range trial.Shares {
		var p Pool
		bound := false
		for _, v := range judged {
			if v.Trial.Status != trial.Valid {
				continue
			}
			all := times(v)
			if len(all.Ns) <= i {
				return points
			}
			p.Add(v.Plan.Block, float64(all.Ns[i]))
			bound = bound || i >= all.Exact
		}
		f, ok := p.Figure()
		if !ok {
			return nil
		}
		points = append(points, hist.Point{Share: share, Ns: int64(math.Round(f.Value)), AtLeast: bound})
	}
	return points
}
