package load

import (
	"sync/atomic"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// kinds orders the error kinds for counting.
var kinds = [...]contract.ErrorKind{
	contract.Peer, contract.Timeout, contract.Invalid, contract.SetupFailed, contract.Unsupported, contract.Bug,
}

// counters hold the completions of one shard in one phase. times is nil before
// the window opens.
type counters struct {
	exchanges atomic.Int64
	received  atomic.Int64
	sent      atomic.Int64 // bytes, where sizes up vary; else they follow from the exchanges
	errors    [len(kinds)]atomic.Int64
	events    atomic.Int64 // of replies, where they are told
	unsent    atomic.Int64 // of the errors, those whose request never went out
	times     *times
	parts     parts
	apart     *byWay[classCounts] // nil where exchanges are not told apart
	_         [64]byte            // shards are written by different CPUs
}

// times are the histograms of one shard, and when it sent; response and lag are
// nil where they would be invented (specification §3.2), service and response where times
// are kept by size (sizes), sends in a closed loop, which declares no arrivals.
type times struct {
	service, response, lag *hist.Recorder
	sends                  *sends
	*shared
	late    atomic.Pointer[hist.Recorder] // ages of those that timed out; nil before the first
	lengths atomic.Pointer[hist.Recorder] // of replies of another length than expected; nil before the first
}

// shared is what all shards of a window count together.
type shared struct {
	reasons reasons // why exchanges failed
	apart   byWay[classTimes]
	sizes   *sizes // nil where all exchanges are of one size
	events  events
	stages  stages
}

// differs counts a reply of another length than expected. The first one of a shard
// allocates, because most trials have none.
func (t *times) differs(received int64) { recordIn(&t.lengths, received) }

// shard is a set of slots that share counters: those of one event loop, or of
// some of the goroutines. A completion goes to the counters of one phase as a
// whole, so the counts and histograms of a phase always agree.
type shard struct{ now atomic.Pointer[counters] }

// phase holds every shard's counters for one stretch of the trial.
type phase []*counters

func (l *Load) newPhase(shards int, t func(i int) *times) phase {
	p := make(phase, shards)
	for i := range p {
		p[i] = &counters{times: t(i)}
		if l.tellsApart() {
			apart := newByWay[classCounts](l)
			p[i].apart = &apart
		}
	}
	return p
}

func newByWay[T any](l *Load) (all byWay[T]) {
	for way, names := range l.names {
		if len(names) > 0 {
			all[way] = make([]T, len(names))
		}
	}
	return all
}

// add sums a phase into c.
func (l *Load) add(p phase, c *contract.Counts) {
	up := l.exchange.UpBytes
	if l.draws.upVaries() || l.numbered {
		up = 0
	}
	for _, t := range p {
		n := t.exchanges.Load()
		c.Exchanges += n
		c.SentBytes += n*up + t.sent.Load()
		c.ReceivedBytes += t.received.Load()
		for i := range t.errors {
			if e := t.errors[i].Load(); e > 0 {
				if c.Errors == nil {
					c.Errors = map[contract.ErrorKind]int64{}
				}
				c.Errors[kinds[i]] += e
			}
		}
	}
}

// Slicing is a ResultSource that can tell the times of the exchanges that completed
// lately. Only the worker's control goroutine calls it.
type Slicing interface {
	// Slice returns the times of what completed since the last call, in the window
	// or draining; nil when nothing did.
	Slice() *contract.TickTimes
}

// Slice implements Slicing. The slots' path is untouched: their histograms are read
// while they are written to.
func (l *Load) Slice() *contract.TickTimes {
	if l.slicer == nil {
		l.slicer = hist.NewSlicer()
	}
	h := l.slicer.Next(l.recorders(l.window, l.plan.Rate == 0))
	if h.Count() == 0 {
		return nil
	}
	t := &contract.TickTimes{Count: h.Count(), MaxNs: h.MaxNs()}
	for i, ns := range h.Percentiles([]float64{0.5, 0.99}) {
		*[]*int64{&t.P50Ns, &t.P99Ns}[i] = ns
	}
	return t
}

// recorders returns what holds the service times, or else the response times.
func (l *Load) recorders(of phase, service bool) (all []*hist.Recorder) {
	if z := of[0].times.sizes; z != nil {
		return z.recorders(service && l.plan.Rate > 0)
	}
	for _, c := range of {
		r := c.times.response
		if service {
			r = c.times.service
		}
		if r != nil {
			all = append(all, r)
		}
	}
	return all
}
