package tool

import (
	"cmp"
	"fmt"
	"math"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/load"
)

// results implements load.ResultSource for programs that the kernel counts for.
// The window lies between two snapshots of the counters. The kernel is read
// within about a millisecond after the instant of a snapshot, at both ends of the
// window alike. Any goroutine may use it.
type results struct {
	plan     contract.Load
	exchange contract.Exchange
	counters trafficCounter
	ended    chan struct{}
	// apportioned says that the number of exchanges is the programs' own for their whole
	// run, times the share of their bytes that fell into the window: 10,000 exchanges
	// with 60 % of the bytes inside make 6,000.
	apportioned bool

	mu              sync.Mutex
	opening, closed *snapshot // nil until they come
	over            bool
	own             selfReport      // known once the programs have ended
	total           contract.Counts // of their whole run, where that is asked
}

// snapshot holds the counters at one end of the window.
type snapshot struct {
	at     int64 // on the clock of load.Now
	counts contract.Counts
}

// selfReport is what programs report about their whole run, added up.
type selfReport struct {
	sent, received int64              // payload bytes
	values         map[string]float64 // for result.own
	exchanges      int64              // that were completed, of a program that counts them
	failed         int64              // … and that were not
	service        *hist.Histogram    // of the window's messages; nil from a program that times none
}

func newResults(setup contract.Setup, c trafficCounter) *results {
	plan := setup.Load
	plan.InFlight = cmp.Or(plan.InFlight, 1)
	plan.DrainNs = cmp.Or(plan.DrainNs, int64(load.DefaultDrain))
	return &results{plan: plan, exchange: setup.Exchange, counters: c, ended: make(chan struct{})}
}

// Plan implements load.ResultSource.
func (r *results) Plan() contract.Load { return r.plan }

// Start implements load.ResultSource: the programs begin when the client runs.
func (r *results) Start() {}

// Open implements load.ResultSource.
func (r *results) Open(now int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opening == nil {
		r.opening = &snapshot{now, r.counters.readCounters()}
	}
}

// Close implements load.ResultSource. The programs go on until End: the other end's
// connections are read at this moment too, and would be gone.
func (r *results) Close(now int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.close(now)
	return r.opening != nil
}

func (r *results) close(now int64) {
	if r.opening != nil && r.closed == nil {
		r.closed = &snapshot{now, r.counters.readCounters()}
	}
}

// End implements load.ResultSource.
func (r *results) End(now int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over {
		r.close(now)
		r.over = true
		close(r.ended)
	}
}

// Snapshot implements load.ResultSource.
func (r *results) Snapshot() contract.Counts {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.closed != nil:
		return r.closed.counts
	case r.opening != nil:
		return r.opening.counts
	}
	return r.counters.readCounters()
}

// Counts implements load.ResultSource.
func (r *results) Counts() contract.Counts { return r.counters.readCounters() }

// window returns when the snapshots were taken; false until both were.
func (r *results) window() (from, to int64, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.opening == nil || r.closed == nil {
		return 0, 0, false
	}
	return r.opening.at, r.closed.at, true
}

// setOwn keeps what the programs report, once they have ended.
func (r *results) setOwn(own selfReport) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.own = own
}

// setTotal keeps what the kernel counted to the end of the programs.
func (r *results) setTotal(total contract.Counts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total = total
}

// apportion returns the exchanges of the window: an exchange takes the bytes that it
// takes in the mean of the whole run, on the wire and with its headers.
func (r *results) apportion(window contract.Counts) contract.Counts {
	bytes := func(c contract.Counts) float64 { return float64(c.SentBytes) + float64(c.ReceivedBytes) }
	up, down := r.exchange.Streamed()
	n := int64(math.Round(float64(r.own.exchanges) * bytes(window) / max(1, bytes(r.total))))
	counts := contract.Counts{Exchanges: n, SentBytes: n * up, ReceivedBytes: n * down}
	if r.own.failed > 0 {
		counts.Errors = map[contract.ErrorKind]int64{contract.Peer: r.own.failed}
	}
	return counts
}

// Sent implements load.ResultSource: nobody sees the programs' requests.
func (r *results) Sent() *contract.Sent { return nil }

// Result implements load.ResultSource.
func (r *results) Result() (contract.Result, error) {
	if err := r.counters.err(); err != nil {
		return contract.Result{}, fmt.Errorf("count a program's bytes: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	out := contract.Result{Own: r.own.values}
	if r.opening == nil || r.closed == nil {
		return out, nil
	}
	from, to := r.opening, r.closed
	out.FromNs, out.ToNs = from.at, to.at
	out.Counts = contract.Counts{
		SentBytes:     to.counts.SentBytes - from.counts.SentBytes,
		ReceivedBytes: to.counts.ReceivedBytes - from.counts.ReceivedBytes,
	}
	if r.apportioned {
		out.Counts = r.apportion(out.Counts)
		return out, nil
	}
	out.Counts.Exchanges = r.counters.exchanges(out.Counts.SentBytes, out.Counts.ReceivedBytes)
	if r.own.service == nil {
		return out, nil
	}
	// A program that times each message knows exactly which ones were completed
	// in the window.
	out.Counts.Exchanges = r.own.service.Count()
	out.Counts.SentBytes = out.Counts.Exchanges * r.exchange.UpBytes
	out.Counts.ReceivedBytes = out.Counts.Exchanges * r.exchange.DownBytes
	var err error
	out.Service, err = r.own.service.Encode()
	return out, err
}
