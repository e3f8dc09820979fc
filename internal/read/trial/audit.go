package trial

import (
	"iter"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// away returns the address of a server that this run could not meter, "" for a
// server of the trial's own.
func (e *audit) away() string { return strings.Join(e.window.Record.Away(), " ") }

// windowOf returns the length of a client's window in seconds by its own clock.
func windowOf(g *record.Worker) float64 {
	if s, ok := g.ResultSeconds(); ok {
		return s
	}
	return (float64(g.Result.ToNs) - float64(g.Result.FromNs)) / 1e9
}

// amount tells whether the work was fixed instead of the window.
func (e *audit) amount() bool {
	for _, g := range e.generators {
		if g.Setup != nil && g.Setup.Load.Amount > 0 {
			return true
		}
	}
	return false
}

// Little's law may be off by this share.
const littleSlack = 0.05

// inFlight returns the mean number of exchanges in flight over all clients by
// Little's law (J. Little, A proof for the queuing formula L = λW, 1961): each
// one's own rate × its own mean service time, because clients of a fixed amount
// of work end each in its own time.
func (e *audit) inFlight() (float64, bool) {
	sum := 0.0
	for _, g := range e.generators {
		service, ok := e.service(g)
		if !ok {
			return 0, false
		}
		done := float64(g.Result.Counts.Exchanges)
		if in := g.Result.Inside; in != nil && !e.amount() {
			done = in.Cycles
		}
		sum += done * service.MeanNs() / 1e9 / windowOf(g)
	}
	return sum, e.slots > 0
}

// service returns a client's service times; false where it has no window.
func (e *audit) service(g *record.Worker) (*hist.Histogram, bool) {
	if g.Result == nil || !(windowOf(g) > 0) {
		return nil, false
	}
	return e.window.HistogramOf(g, record.Service)
}

// asked returns the window of the trial in seconds: what its levels declare, else
// what passed between the marks by the bench's clock. False for a fixed amount of
// work, which ends when it is done, and where neither is known.
func (e *audit) asked() (float64, bool) {
	if e.amount() {
		return 0, false
	}
	declared, err := quantity.ParseDuration(e.window.Record.Trial.Levels["window"])
	if err == nil && declared > 0 {
		return declared.Seconds(), true
	}
	return e.betweenMarks()
}

// betweenMarks returns the window by the bench's clock; false where a mark was
// not sent.
func (e *audit) betweenMarks() (float64, bool) {
	line := e.window.Record.Timeline
	length := float64(line.CloseNs-line.OpenNs) / 1e9
	return length, line.OpenNs > 0 && length > 0
}

// Foreign tells whether a client wraps another program: the kernel counts its
// bytes, and its exchanges are these bytes divided by the sizes of the messages
// that stream (CONTRACT.md, section ready).
func Foreign(g *record.Worker) bool { return g.Ready != nil && g.Ready.Foreign }

// workers returns the workers of the record, by reference.
func (e *audit) workers() iter.Seq[*record.Worker] {
	return func(yield func(*record.Worker) bool) {
		for i := range e.window.Record.Workers {
			if !yield(&e.window.Record.Workers[i]) {
				return
			}
		}
	}
}

// connections returns the spans of an end whose connections the kernel accounts for, and
// what its counters grew by in the window; false where there is no such account.
func (e *audit) connections(end contract.Role) (spans []record.Span, grown record.TCPGrowth, ok bool) {
	if spans, ok = e.window.Spans(end); !ok {
		return nil, grown, false
	}
	grown, ok = record.GrowthOf(spans)
	return spans, grown, ok
}

// unreadAt returns the bytes that lay unread at an end when the window closed; false
// where a connection of that end has no account.
func (e *audit) unreadAt(end contract.Role) (unread float64, ok bool) {
	spans, ok := e.window.Spans(end)
	for _, s := range spans {
		_, to, accounted := s.TCP()
		if !accounted {
			return 0, false
		}
		unread += float64(to.ReceiveBufferedBytes)
	}
	return unread, ok
}

// audit is one record under examination, with what several checks ask of it.
type audit struct {
	window     *record.Window
	generators []*record.Worker
	values     map[string]float64
	slots      float64 // places for an exchange in flight, over all clients
	open       bool    // open loop
	thinking   bool    // closed loop with think time, or one of unknown pattern
	series     []Slice
	groups     []workerGroup
	others     float64 // see othersShare
	beside     float64 // … however small
	over       float64 // see overOffered
}

func newAudit(r *record.Record, unloaded record.UnloadedNs) *audit {
	e := &audit{window: record.NewWindow(r)}
	e.window.Unloaded = unloaded
	e.generators, e.values = e.window.Generators(), metric.Measure(e.window)
	_, e.open = e.window.OfferedRate()
	for _, g := range e.generators {
		if g.Setup == nil {
			e.thinking = true
			continue
		}
		e.slots += g.Setup.Load.Slots()
		// A new connection per exchange spends time between exchanges too.
		e.thinking = e.thinking || g.Setup.Load.ThinkNs > 0 || g.Setup.Load.Fresh
	}
	if !r.Turn { // turns are read together
		e.series = seriesOf(r.Timeline, e.generators)
	}
	e.groups = e.workerGroups()
	e.others, e.beside = e.othersShare()
	e.over = overOffered(e)
	return e
}

// elsewhere tells whether a server is no process of the trial's.
func (e *audit) elsewhere() bool {
	return slices.ContainsFunc(e.window.Record.Workers, func(w record.Worker) bool { return w.Elsewhere() })
}

// why returns why a server of the worker's host was not metered; "" where there is
// no such reason.
func (e *audit) why() string {
	for w := range e.workers() {
		if why := w.Unmetered(); why != "" {
			return why
		}
	}
	return ""
}

func otherEnd(r contract.Role) contract.Role {
	if r == contract.Server {
		return contract.Client
	}
	return contract.Server
}

// activeShare is the share of connections that carry load.
func (e *audit) activeShare() float64 {
	for _, g := range e.generators {
		if g.Setup != nil && g.Setup.Load.ActiveShare > 0 && g.Setup.Load.ActiveShare < 1 {
			return g.Setup.Load.ActiveShare
		}
	}
	return 1
}
