package trial

import "netdyno/internal/record"

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

// timesOf returns a trial's times in ns at the curve's shares, as far as enough
// values lie beyond them (specification §3.2); none without a histogram.
func timesOf(w *record.Window, kind string) []int64 {
	h, ok := w.Histogram(kind)
	if !ok {
		return nil
	}
	return h.Percentiles(Shares)
}
