package trial

import (
	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// Counted is what the clients of a trial counted in its window. The zero value is of a
// trial whose server is netdyno's own: studies ask for its rates alone.
type Counted struct {
	WindowS       float64 // the longest of the clients'
	Exchanges     int64   // completed, without those that failed
	SentBytes     int64   // of their payload
	ReceivedBytes int64
	Kind          string          // of the times: record.Response in an open loop, else record.Service
	Lengths       *hist.Histogram // of the replies, in bytes, those that drained included; nil where they are not known
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

// Times are a trial's times by their kind.
type Times map[string]times

// times are those of one kind, as record.Times has them.
type times struct{ least, most hist.Packed } // most is nil where it is the same

// Of returns the times of a kind as far as they are known, and as long as they may be;
// the same where nothing was left unfinished, and nil where there are none.
func (t Times) Of(kind string) (least, most hist.Packed) {
	of := t[kind]
	if of.most == nil {
		return of.least, of.least
	}
	return of.least, of.most
}

// coarsen keeps the times to 1.6 %, as a run of very many trials does, and lags to 6 %. The
// steps begin elsewhere in every block, so that those of the whole run are much finer.
func (t Times) coarsen(block int) {
	const usual, ofLag, golden = 32, 128, 79 // of each width 79 leaves out none
	for kind, of := range t {
		width := usual
		if kind == record.Lag {
			width = ofLag
		}
		if of.least = of.least.Coarse(width, golden*block); of.most != nil {
			of.most = of.most.Coarse(width, golden*block)
		}
		t[kind] = of
	}
}

func timesOf(w *record.Window) Times {
	all := Times{}
	for _, kind := range record.Kinds {
		t, ok := w.Times(kind)
		if !ok {
			continue
		}
		packed := times{least: t.Least.Pack()}
		if t.Bounded() {
			packed.most = t.Most.Pack()
		}
		all[kind] = packed
	}
	return all
}

// TimesOf are service times alone, all known.
func TimesOf(service hist.Packed) Times { return Times{record.Service: {least: service}} }
