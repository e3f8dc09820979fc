package trial

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// What is drawn of a run stays bounded however large it is: a page that opens in a second
// shows no less than one that does not.
const (
	maxSeriesOfCell = 200
	maxSeries       = 1200
)

// SeriesDrawn returns how many trials of an arm are drawn over time, in a run of so many cells with so
// many arms in one.
func SeriesDrawn(cells, arms int) int {
	ofCell := max(4, min(maxSeriesOfCell, maxSeries/max(1, cells)))
	return max(1, ofCell/max(1, arms))
}

// seriesOf returns the steps between the first client's ticks, the other
// clients' counts interpolated at them. Each client's time is counted from
// its own opening mark, so that clocks of two hosts never meet.
func seriesOf(line record.Timeline, generators []*record.Worker) []Slice {
	var curves []curve
	for _, g := range generators {
		c, ok := progressOf(g)
		if !ok {
			return nil
		}
		curves = append(curves, c)
	}
	if len(curves) == 0 {
		return nil
	}
	var slices []Slice
	untilOpen := float64(line.OpenNs) - float64(line.StartNs)
	before := 0.0
	for i, at := range curves[0].at {
		sum, whole := 0.0, true
		for j := range curves {
			n, ok := curves[j].until(at)
			sum, whole = sum+n, whole && ok
		}
		if whole && i > 0 && before >= 0 {
			from := curves[0].at[i-1]
			slices = append(slices, Slice{
				AtS:           (from + untilOpen) / 1e9,
				ExchangesPerS: (sum - before) / (at - from) * 1e9,
				InWindow:      from >= 0 && at <= curves[0].close,
			})
		}
		before = sum
		if !whole {
			before = -1
		}
	}
	return slices
}

// curve is one client's cumulative exchanges over ns since its opening mark.
type curve struct {
	at, count []float64 // rising
	close     float64
	reached   int // until's place: it is asked with rising instants only
}

func progressOf(g *record.Worker) (curve, bool) {
	if g.Result == nil || g.Result.ToNs <= g.Result.FromNs {
		return curve{}, false
	}
	begin := float64(g.Result.FromNs)
	c := curve{close: float64(g.Result.ToNs) - begin}
	last, pace := contract.Tick{AtNs: -1, Exchanges: -1}, paceOf(g)
	for _, t := range g.Ticks {
		if t.AtNs <= last.AtNs || t.Exchanges < last.Exchanges {
			continue
		}
		c.at = append(c.at, float64(t.AtNs)-begin)
		c.count = append(c.count, float64(t.Exchanges)*pace)
		last = t
	}
	return c, len(c.at) > 1
}

// paceOf returns the factor that turns a client's ticks into the exchanges of its result.
// The ticks of a user's load generator are bytes divided by the size of a message, and a
// reply has a head besides (CONTRACT.md, section ready): 200 bytes of head on messages of
// 1,000 bytes make a factor of 0.83. For any other client the factor is 1.
func paceOf(g *record.Worker) float64 {
	if !Foreign(g) || g.Open == nil || g.Close == nil {
		return 1
	}
	read := record.Growth(g.Open.Reading.Counts.Exchanges, g.Close.Reading.Counts.Exchanges)
	if done := float64(g.Result.Counts.Exchanges); read > 0 && done > 0 {
		return done / read
	}
	return 1
}

// until returns the exchanges done at an instant; false outside the ticks.
func (c *curve) until(at float64) (float64, bool) {
	for c.reached < len(c.at)-1 && c.at[c.reached+1] <= at {
		c.reached++
	}
	i := c.reached
	switch {
	case at == c.at[i]:
		return c.count[i], true
	case at < c.at[i] || i == len(c.at)-1:
		return 0, false
	}
	share := (at - c.at[i]) / (c.at[i+1] - c.at[i])
	return c.count[i] + share*(c.count[i+1]-c.count[i]), true
}
