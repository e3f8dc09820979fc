package load

import (
	"errors"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// Result returns what the window holds. Call it when the transport has let go of
// every slot, or was closed because the time to drain was over.
func (l *Load) Result() (contract.Result, error) {
	now := Now()
	l.End(now)
	r := contract.Result{FromNs: l.fromNs, ToNs: l.closeNs.Load()}
	if !l.open {
		r.FromNs = r.ToNs
	}
	l.add(l.window, &r.Counts)
	var drained contract.Counts
	l.add(l.drain, &drained)
	r.Drained = drained.Exchanges
	for kind, n := range drained.Errors {
		if r.Counts.Errors == nil {
			r.Counts.Errors = map[contract.ErrorKind]int64{}
		}
		r.Counts.Errors[kind] += n
	}
	r.Reasons = l.window.reasons()
	r.Arrivals = l.arrivals()
	service, err := l.encodeTimes(l.window, &r)
	if err != nil {
		return r, err
	}
	r.Inside = l.insideOf(r.Counts.Exchanges, service) // before the schedules are walked to their end
	if r.Lengths, err = l.lengths(l.window, r.Counts.Exchanges+r.Drained); err != nil {
		return r, err
	}
	ages := l.unfinished(now)
	if err := l.enterParts(l.window, &r); err != nil {
		return r, err
	}
	if err := l.enterApart(l.window, l.drain, &r); err != nil {
		return r, err
	}
	if r.Bins, err = l.window.binResults(l.plan.Rate > 0); err != nil {
		return r, err
	}
	if err := l.closeReplay(); err != nil {
		return r, err
	}
	r.Unfinished = ages.Count()
	if r.Unfinished > 0 {
		r.Ages, err = ages.Encode()
	}
	return r, err
}

// unfinished returns the ages, counted from when they were due, of the exchanges
// that were due before the end and have not completed. What the schedule had due and
// was never sent is included.
func (l *Load) unfinished(now int64) *hist.Histogram {
	ages, closing, start := hist.New(), l.closeNs.Load(), l.startNs.Load()
	if start == 0 {
		return ages
	}
	l.left = newByWay[int64](l)
	for i := range l.slots {
		s := &l.slots[i]
		if due := s.pending.Load(); due <= closing {
			ages.Record(now-due, 1)
			l.waited(l.window[0], now-due, s.replied, s.eventNs != 0)
			l.leaveApart(s, due, true)
		}
		if !s.open || s.replay != nil || l.dues != nil {
			continue
		}
		for ; s.left > 0 && start+s.schedule.peek() <= closing; s.schedule.advance() {
			ages.Record(now-start-s.schedule.peek(), 1)
			l.waited(l.window[0], now-start-s.schedule.peek(), false, false)
			l.leaveApart(s, start+s.schedule.peek(), false)
		}
	}
	if l.dues != nil {
		for due := l.dues.take(); start+due <= closing; due = l.dues.take() {
			ages.Record(now-start-due, 1)
			l.waited(l.window[0], now-start-due, false, false)
		}
	}
	if r := l.replay; r != nil {
		for d := r.take(); start+d.atNs <= closing; d = r.take() {
			ages.Record(now-start-d.atNs, 1)
			l.waited(l.window[0], now-start-d.atNs, false, false)
		}
	}
	return ages
}

// closeReplay lets go of recorded traffic, and returns why it could not be read on.
func (l *Load) closeReplay() error {
	r := l.replay
	if r == nil {
		return nil
	}
	failed := r.failure()
	if err := errors.Join(failed, r.close()); err != nil {
		return Failure(contract.Invalid, err)
	}
	return nil
}

// lengths encodes the lengths of so many replies; "" where all were as expected.
func (l *Load) lengths(of phase, replies int64) (string, error) {
	lengths := hist.New()
	for _, c := range of {
		if r := c.times.lengths.Load(); r != nil {
			lengths.Merge(r.Snapshot())
		}
	}
	if lengths.Count() == 0 {
		return "", nil
	}
	lengths.Record(l.exchange.DownBytes, max(0, replies-lengths.Count()))
	return lengths.Encode()
}

// encodeTimes enters the histograms into r, and returns the times by which exchanges
// follow each other in a slot: response times in an open loop, else service times.
func (l *Load) encodeTimes(p phase, r *contract.Result) (*hist.Histogram, error) {
	service, response, lag, late := hist.New(), hist.New(), hist.New(), hist.New()
	for _, of := range l.recorders(p, true) {
		service.Merge(of.Snapshot())
		r.OverMax += of.OverMax()
	}
	if l.plan.Rate > 0 {
		for _, of := range l.recorders(p, false) {
			response.Merge(of.Snapshot())
		}
	}
	for _, t := range p {
		if t.times.lag != nil {
			lag.Merge(t.times.lag.Snapshot())
		}
		if r := t.times.late.Load(); r != nil {
			late.Merge(r.Snapshot())
		}
	}
	for _, e := range []struct {
		of *hist.Histogram
		to *string
	}{{service, &r.Service}, {response, &r.Response}, {lag, &r.Lag}, {late, &r.Late}} {
		if e.of.Count() == 0 {
			continue
		}
		text, err := e.of.Encode()
		if err != nil {
			return nil, err
		}
		*e.to = text
	}
	if l.plan.Rate > 0 {
		return response, nil
	}
	return service, nil
}

// ResultSource counts a client's exchanges. *Load is one, for every transport that
// pulls its work from it. Only the worker's control goroutine calls Start, Open,
// Close and End; any goroutine may call the others.
type ResultSource interface {
	// Plan returns the load with its defaults filled in.
	Plan() contract.Load
	// Start says that the load begins.
	Start()
	// Open begins the window.
	Open(now int64)
	// Close ends an open window and reports whether there was one.
	Close(now int64) bool
	// End ends the window and the load. Only the first call has an effect.
	End(now int64)
	// Snapshot returns the sums since ready as they were when the window last
	// opened or closed.
	Snapshot() contract.Counts
	// Counts returns the sums since ready.
	Counts() contract.Counts
	// Result returns what the window holds. Call it when Run has returned.
	Result() (contract.Result, error)
	// Sent returns the requests that its slots sent since ready; nil where it does not
	// know. Call it as Result.
	Sent() *contract.Sent
}

// CountingClient is a client that counts by itself, because a program that
// somebody else wrote drives the load and no slot carries its exchanges. Its Load
// is nil.
type CountingClient interface {
	Client
	Results() ResultSource
}

// ResultSourceOf returns what counts a client's exchanges.
func ResultSourceOf(c Client) ResultSource {
	if a, ok := c.(CountingClient); ok {
		return a.Results()
	}
	return c.Load()
}
