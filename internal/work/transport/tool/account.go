package tool

import (
	"cmp"
	"fmt"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/load"
)

// account implements load.ResultSource for programs that the kernel counts for: its
// window lies between two readings of the books. What a reading holds was read
// within a millisecond or so after its instant, at both edges alike. Any
// goroutine may use it.
type account struct {
	plan     contract.Load
	exchange contract.Exchange
	books    *books
	ended    chan struct{}

	mu              sync.Mutex
	opening, closed *edge // nil until they come
	over            bool
	own             statement // what the programs said, once they have ended
}

// edge is a reading at an edge of the window.
type edge struct {
	at     int64 // on the clock of load.Now
	counts contract.Counts
}

// statement is what programs say of their whole run, added up.
type statement struct {
	sent, received int64              // payload bytes
	values         map[string]float64 // for result.own
	service        *hist.Histogram    // of the window's messages; nil from a program that times none
}

func newAccount(setup contract.Setup, b *books) *account {
	plan := setup.Load
	plan.InFlight = cmp.Or(plan.InFlight, 1)
	plan.DrainNs = cmp.Or(plan.DrainNs, int64(load.DefaultDrain))
	return &account{plan: plan, exchange: setup.Exchange, books: b, ended: make(chan struct{})}
}

// Plan implements load.ResultSource.
func (a *account) Plan() contract.Load { return a.plan }

// Start implements load.ResultSource: the programs begin when the client runs.
func (a *account) Start() {}

// Open implements load.ResultSource.
func (a *account) Open(now int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opening == nil {
		a.opening = &edge{now, a.books.read()}
	}
}

// Close implements load.ResultSource. The programs go on until End: the other end's
// connections are read at this moment too, and would be gone.
func (a *account) Close(now int64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.close(now)
	return a.opening != nil
}

func (a *account) close(now int64) {
	if a.opening != nil && a.closed == nil {
		a.closed = &edge{now, a.books.read()}
	}
}

// End implements load.ResultSource.
func (a *account) End(now int64) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.over {
		a.close(now)
		a.over = true
		close(a.ended)
	}
}

// Snapshot implements load.ResultSource.
func (a *account) Snapshot() contract.Counts {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed != nil:
		return a.closed.counts
	case a.opening != nil:
		return a.opening.counts
	}
	return a.books.read()
}

// Counts implements load.ResultSource.
func (a *account) Counts() contract.Counts { return a.books.read() }

// window returns the edges; false until both have been read.
func (a *account) window() (from, to int64, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.opening == nil || a.closed == nil {
		return 0, 0, false
	}
	return a.opening.at, a.closed.at, true
}

// state enters what the programs said when they had ended.
func (a *account) state(own statement) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.own = own
}

// Result implements load.ResultSource.
func (a *account) Result() (contract.Result, error) {
	if err := a.books.err(); err != nil {
		return contract.Result{}, fmt.Errorf("count a program's bytes: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	r := contract.Result{Own: a.own.values}
	if a.opening == nil || a.closed == nil {
		return r, nil
	}
	from, to := a.opening, a.closed
	r.FromNs, r.ToNs = from.at, to.at
	r.Counts = contract.Counts{
		SentBytes:     to.counts.SentBytes - from.counts.SentBytes,
		ReceivedBytes: to.counts.ReceivedBytes - from.counts.ReceivedBytes,
	}
	r.Counts.Exchanges = a.books.unit.exchanges(a.books.role, r.Counts.SentBytes, r.Counts.ReceivedBytes)
	if a.own.service == nil {
		return r, nil
	}
	// A program that times each message knows exactly which ones were completed
	// in the window.
	r.Counts.Exchanges = a.own.service.Count()
	r.Counts.SentBytes = r.Counts.Exchanges * a.exchange.UpBytes
	r.Counts.ReceivedBytes = r.Counts.Exchanges * a.exchange.DownBytes
	var err error
	r.Service, err = a.own.service.Encode()
	return r, err
}
