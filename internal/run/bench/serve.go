package bench

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// ReadEvery is the time between a standing server's readings.
const ReadEvery = 200 * time.Millisecond

// Standing is how a trial's server stands for clients that are not ours.
type Standing struct {
	Listen string        // host:port to bind; empty is the seat's address and a port of the kernel's choice
	Every  time.Duration // between readings; 0 is ReadEvery

	// Observe is told of the server when it listens and the first reading, Open,
	// is taken, and then after every reading, of which Close is the latest.
	// It is called by the goroutine of Serve, which waits for it.
	Observe func(record.Worker)

	// Segment is told of every time in which the server was driven, when it is
	// over, by the same goroutine; may be nil.
	Segment func(record.Record)
}

// Serve stands up the server of one trial, metered as in a run, without any client, until
// ctx ends, which is no error. Anybody may connect. It returns the server's part of a
// record. The error is a server that cannot be started, that does not come to listen, or
// that ends by itself. One goroutine may call Serve, and not while Run runs.
//
// While the server listens, b.Keep is given a record of every segment, and at last a
// record of the whole time; a record that cannot be kept ends Serve with the error.
func (b *Bench) Serve(ctx context.Context, plan record.Trial, s Standing) (record.Worker, error) {
	b.Timeouts = b.Timeouts.orStandard()
	work, err := b.decode(plan)
	if err != nil {
		return record.Worker{}, err
	}
	t := &trial{bench: b, plan: plan, work: work, begun: time.Now()}
	stood := &stand{trial: t, Standing: s}
	if t.serverEnd, err = b.Catalog.server(work); err != nil {
		return record.Worker{}, err
	}
	t.clientEnd = t.serverEnd // nobody of ours; it takes what options are the client's alone

	// The trial's own context ends when the server fails. That the caller's ends
	// is a failure only until the server listens.
	own, fail := context.WithCancelCause(context.WithoutCancel(ctx))
	defer fail(nil)
	giveUp := context.AfterFunc(ctx, func() { fail(context.Cause(ctx)) })
	if err = t.listen(own, fail, s); err == nil {
		if giveUp() {
			err = stood.observe(ctx, own)
		} else {
			err = context.Cause(ctx)
		}
	}
	if len(t.servers) == 0 {
		return record.Worker{}, err
	}
	worker, closeErr := t.servers[0].close()
	err = cmp.Or(err, closeErr)
	if stood.listened {
		err = cmp.Or(err, stood.conclude(worker, err))
	}
	return worker, err
}

// server returns the transport of a trial's server, whoever its clients are.
func (c *Catalog) server(w study.Work) (Offer, error) {
	offer, err := c.catalogFor(w).Offer(w.Server, w.Exchange.Codec)
	switch {
	case err != nil:
		return offer, err
	case w.Servers > 1:
		return offer, fmt.Errorf("servers is %d; netdyno listen starts one server", w.Servers)
	case !offer.Has(contract.Server):
		return offer, fmt.Errorf("transport %s has no role server, it has %v", offer.Name, offer.Roles)
	}
	if err := able(w, offer); err != nil {
		return offer, err
	}
	return offer, works(offer, w)
}

// standingSeat is the seat of a server that listens on host:port. At an address of the
// loopback the clients are on this host, and the server shares the CPUs with them by the
// trial's placement; at any other address the server has all CPUs.
func (t *trial) standingSeat(listen string) (rig.Seat, error) {
	if listen == "" {
		seat, _, err := Seats(t.bench.hosts(), t.work)
		return seat, err
	}
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return rig.Seat{}, fmt.Errorf("address to listen on: %w", err)
	}
	seat, err := t.seatFor(host)
	seat.Address = host // a certificate is made for it
	return seat, err
}

func (t *trial) seatFor(host string) (rig.Seat, error) {
	if ip := net.ParseIP(host); host == "localhost" || ip != nil && ip.IsLoopback() {
		seat, _, err := Seats(t.bench.hosts(), t.work)
		return seat, err
	}
	seats, err := rig.ClientSeats(t.bench.hosts(), t.work.Placement, 1)
	if err != nil {
		return rig.Seat{}, err
	}
	return seats[0], nil
}

// listen starts the server and has it listen.
func (t *trial) listen(ctx context.Context, fail context.CancelCauseFunc, s Standing) error {
	seat, err := t.standingSeat(s.Listen)
	if err != nil {
		return err
	}
	t.serverSeat = seat
	// No bound: the caller says when.
	server, err := t.startWorker(ctx, workerPlan{serverName(0, 1), contract.Server, seat, t.serverEnd, 0}, fail)
	if err != nil {
		return err
	}
	t.servers = append(t.servers, server)
	if err := t.awaitHello(ctx, server); err != nil {
		return err
	}
	setups, err := t.setups()
	if err != nil {
		return err
	}
	setups.server.Listen = cmp.Or(s.Listen, setups.server.Listen)
	setups.server.Allow = nil // whoever drives it is not ours to name
	_, err = t.ready(ctx, server, setups.server)
	return err
}

// stand is a trial's server that stands by itself, with the readings and
// segments so far.
type stand struct {
	*trial
	Standing
	segmenter
	listened bool // and its first reading is taken
}

// observe takes a reading at once and every s.Every until ctx ends, and then
// the result. Of own it is told when the server fails.
func (s *stand) observe(ctx, own context.Context) error {
	if err := s.mark(own, s.all, openMark); err != nil {
		return err
	}
	opened := s.servers[0].snapshot()
	s.Observe(opened) // now that every exchange will be counted
	s.listened = true
	s.takeEdge(*opened.Open)
	ticker := time.NewTicker(cmp.Or(s.Every, ReadEvery))
	defer ticker.Stop()
	for {
		ended := false
		select {
		case <-ticker.C:
		case <-own.Done():
			return context.Cause(own)
		case <-ctx.Done():
			ended = true
		}
		if err := s.mark(own, s.all, closeMark); err != nil {
			return err
		}
		now := s.servers[0].snapshot()
		s.Observe(now)
		if err := s.keep(now, s.takeEdge(*now.Close)); err != nil {
			return err
		}
		if ended {
			return s.results(own, s.all, s.stop)
		}
	}
}

// keep keeps a segment that is over, if one is.
func (s *stand) keep(w record.Worker, p *endedSegment) error {
	if p == nil {
		return nil
	}
	r := segmentRecord(s.plan, w, *p)
	if s.Segment != nil {
		s.Segment(r)
	}
	if s.bench.Keep == nil || p.Number > MaxSegments {
		return nil
	}
	return s.bench.Keep(r)
}

// conclude keeps what is left when the server has ended: the segment that was
// still going on, and the whole.
func (s *stand) conclude(w record.Worker, ended error) error {
	err := s.keep(w, s.cut())
	if s.bench.Keep == nil || err != nil {
		return err
	}
	plan := s.plan
	plan.ID, plan.Order = "whole", s.count+1
	whole := record.Record{
		Schema: record.Schema, Trial: plan, StartedAt: s.begun.UTC(), Workers: []record.Worker{w}, Segments: s.count,
		Timeline: record.Timeline{EndNs: s.elapsed()},
	}
	whole.Outcome, whole.Failure = outcome(ended)
	return s.bench.Keep(whole)
}

// snapshot returns what is known of the worker now, without its ticks, which
// are forgotten: a server may stand for days.
func (c *conversation) snapshot() record.Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.worker.Ticks, c.worker.Metered, c.thin = nil, nil, thinning{}
	return c.worker
}
