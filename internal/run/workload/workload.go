// Package workload is what a workload file says: exchanges of several classes, keys by
// Zipf's law, recorded traffic; and what of it one client of a trial is told.
package workload

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/run/study"
	"netdyno/internal/traffic"
)

// Named are names in braces, which stand for something in a class's path.
var Named = regexp.MustCompile(`\{[^{}]+\}`)

// Workload is what a workload file says: classes of exchanges with their weights, or
// recorded traffic.
type Workload struct {
	Classes []contract.Class `json:"classes"`
	Keys    contract.Table   `json:"keys,omitempty"` // of {key} in paths
	Zipf    *Zipf            `json:"zipf,omitempty"` // that Keys come from

	// Of recorded traffic.
	TraceFile string        `json:"-"` // where it lies on this host
	Trace     *traffic.Body `json:"-"`
	Sum       string        `json:"sum,omitempty"`   // of Trace, so that a run is not gone on with by another
	Means     []Mean        `json:"means,omitempty"` // of each class
}

// Mean is what the requests of a class of recorded traffic had: how many, and bytes of
// one, in the mean.
type Mean struct {
	Requests int64   `json:"requests"`
	Up       float64 `json:"up"`
	Down     float64 `json:"down"`
	Known    int64   `json:"known,omitempty"` // requests whose bodies the recording has
}

// tableOf makes a table of pieces with these weights. One too rare for 2⁻³² is left out,
// and its share goes to its neighbours.
func tableOf(weights []float64, of func(i int) (low, high int64)) contract.Table {
	total := 0.0
	for _, w := range weights {
		total += w
	}
	var t contract.Table
	sum, last := 0.0, int64(0)
	for i, w := range weights {
		sum += w
		end := int64(math.Round(sum / total * contract.TableEnd))
		if end <= last {
			continue
		}
		low, high := of(i)
		t, last = append(t, contract.Segment{end, low, high}), end
	}
	t[len(t)-1][0] = contract.TableEnd
	return t
}

// Ends gives classes the ends that their weights make. The error says which weight is too
// small beside the others.
func Ends(classes []contract.Class, weights []float64) error {
	total, sum, last := 0.0, 0.0, int64(0)
	for _, w := range weights {
		total += w
	}
	for i := range classes {
		sum += weights[i]
		end := int64(math.Round(sum / total * contract.TableEnd))
		if i == len(classes)-1 {
			end = contract.TableEnd
		}
		if end <= last {
			return fmt.Errorf("the weight of class %s is too small beside the others: it would come less than once in four thousand million", classes[i].Name)
		}
		classes[i].End, last = end, end
	}
	return nil
}

// Exchange returns what all classes are together: the largest sizes, and tables of how
// often each size comes, as servers need them. They are coarse where there are many.
func (w Workload) Exchange(x contract.Exchange) contract.Exchange {
	up, down := w.sides(func(c contract.Class) (int64, contract.Table) { return c.UpBytes, c.UpSizes }, func(m Mean) float64 { return m.Up }),
		w.sides(func(c contract.Class) (int64, contract.Table) { return c.DownBytes, c.DownSizes }, func(m Mean) float64 { return m.Down })
	x.UpBytes, x.DownBytes, x.UpSizes, x.DownSizes = up.Most(), down.Most(), up, down
	x.UpMeanBytes, x.DownMeanBytes = up.Mean(), down.Mean()
	return x
}

// sides is how often each size comes in one direction.
func (w Workload) sides(of func(contract.Class) (int64, contract.Table), mean func(Mean) float64) contract.Table {
	if len(w.Means) > 0 {
		return w.recordedSizes(of, mean)
	}
	type piece struct {
		weight    float64
		low, high int64
	}
	var pieces []piece
	last := int64(0)
	for _, c := range w.Classes {
		share := float64(c.End-last) / contract.TableEnd
		last = c.End
		size, table := of(c)
		if len(table) == 0 {
			pieces = append(pieces, piece{share, size, size})
			continue
		}
		before := int64(0)
		for _, s := range table {
			pieces = append(pieces, piece{share * float64(s[0]-before) / contract.TableEnd, s[1], s[2]})
			before = s[0]
		}
	}
	slices.SortStableFunc(pieces, func(a, b piece) int { return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high)) })
	for len(pieces) > contract.MostSegments { // neighbours become one
		joined := pieces[:0]
		for i := 0; i < len(pieces); i += 2 {
			p := pieces[i]
			if i+1 < len(pieces) {
				p.weight += pieces[i+1].weight
				p.high = max(p.high, pieces[i+1].high)
			}
			joined = append(joined, p)
		}
		pieces = joined
	}
	weights := make([]float64, len(pieces))
	for i, p := range pieces {
		weights[i] = p.weight
	}
	t := tableOf(weights, func(i int) (int64, int64) { return pieces[i].low, pieces[i].high })
	return withMost(t, slices.MaxFunc(pieces, func(a, b piece) int { return cmp.Compare(a.high, b.high) }).high)
}

// withMost makes the largest size one that a table has, however rare.
func withMost(t contract.Table, most int64) contract.Table {
	if t.Most() < most {
		t[len(t)-1][2] = most
	}
	return t
}

// recordedSizes has the mean and the largest of recorded sizes: each request says its own.
func (w Workload) recordedSizes(of func(contract.Class) (int64, contract.Table), mean func(Mean) float64) contract.Table {
	most, sum, n := int64(0), 0.0, int64(0)
	for i, c := range w.Classes {
		size, _ := of(c)
		most = max(most, size)
		sum += mean(w.Means[i]) * float64(w.Means[i].Requests)
		n += w.Means[i].Requests
	}
	average := sum / float64(max(1, n))
	low := int64(average)
	share := 1.0
	if most > low {
		share = 1 - (average-float64(low))/float64(most-low)
	}
	end := int64(math.Round(share * contract.TableEnd))
	if end <= 0 || end >= contract.TableEnd {
		end = contract.TableEnd - 1
	}
	if low == most {
		return contract.Table{{contract.TableEnd, most, most}}
	}
	return contract.Table{{end, low, low}, {contract.TableEnd, most, most}}
}

// segments is how many segments all tables have.
func (w Workload) segments() int {
	n := len(w.Keys)
	for _, c := range w.Classes {
		n += len(c.UpSizes) + len(c.DownSizes)
	}
	return n
}

// Check refuses a workload that does not fit into a worker's line.
func (w Workload) Check() error {
	if n := w.segments(); n > contract.MostMixSteps {
		return fmt.Errorf("the distributions of all classes have %d pieces; expected at most %d", n, contract.MostMixSteps)
	}
	return nil
}

// Enter makes a trial's work that of the workload. seed is the trial's: by it each block
// replays recorded traffic from another moment, where that is longer than a trial.
func (w Workload) Enter(work study.Work, seed uint64) (study.Work, error) {
	work.Exchange = w.Exchange(work.Exchange)
	work.Load.Classes, work.Load.Keys = w.Classes, w.Keys
	if w.Trace == nil {
		return work, w.think(&work)
	}
	return work, w.replay(&work, seed)
}

// think makes the load's pause the mean of the classes'.
func (w Workload) think(work *study.Work) error {
	if !work.Load.Thinks() {
		return nil
	}
	mean, last := 0.0, int64(0)
	for _, c := range w.Classes {
		mean += float64(c.End-last) / contract.TableEnd * float64(c.ThinkNs)
		last = c.End
	}
	i := slices.IndexFunc(w.Classes, func(c contract.Class) bool { return c.ThinkNs > 0 })
	switch {
	case work.Load.Rate > 0 || work.Times != "":
		return fmt.Errorf("class %s has think, and an open loop follows its schedule and does not think; leave out rate and arrival, or think", w.Classes[i].Name)
	case work.Load.ThinkNs > 0:
		return fmt.Errorf("class %s has think, and so has the study; expected one of them", w.Classes[i].Name)
	}
	work.Load.ThinkNs = max(1, int64(math.Round(mean)))
	return nil
}
