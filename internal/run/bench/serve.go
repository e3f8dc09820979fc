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

// readEvery is the time between a standing server's readings.
const readEvery = time.Second

// Standing is how a trial's server stands for clients that are not ours.
type Standing struct {
	Listen string // host:port to bind; empty is the seat's address and a port of the kernel's choice

	// Observe is told of the server when it listens and the first reading, Open,
	// is taken, and then after every reading, of which Close is the latest.
	// It is called by the goroutine of Serve, which waits for it.
	Observe func(record.Worker)
}

// Serve stands up the server of one trial, metered as in a run, without any client, until
// ctx ends, which is no error. Anybody may connect. It returns the server's part of a
// record. The error is a server that cannot be started, that does not come to listen, or
// that ends by itself. One goroutine may call Serve, and not while Run runs.
func (b *Bench) Serve(ctx context.Context, plan record.Trial, s Standing) (record.Worker, error) {
	b.Timeouts = b.Timeouts.orStandard()
	work, err := b.decode(plan)
	if err != nil {
		return record.Worker{}, err
	}
	t := &trial{bench: b, plan: plan, work: work, begun: time.Now()}
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
			err = t.observe(ctx, own, s.Observe)
		} else {
			err = context.Cause(ctx)
		}
	}
	if len(t.servers) == 0 {
		return record.Worker{}, err
	}
	worker, closeErr := t.servers[0].close()
	return worker, cmp.Or(err, closeErr)
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

// observe takes a reading at once and every readEvery until ctx ends, and then the result,
// and tells of each. Of own it is told when the server fails.
func (t *trial) observe(ctx, own context.Context, tell func(record.Worker)) error {
	if err := t.mark(own, t.all, openMark); err != nil {
		return err
	}
	tell(t.servers[0].snapshot()) // now that every exchange will be counted
	ticker := time.NewTicker(readEvery)
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
		if err := t.mark(own, t.all, closeMark); err != nil {
			return err
		}
		tell(t.servers[0].snapshot())
		if ended {
			return t.results(own, t.all, t.stop)
		}
	}
}

// snapshot returns what is known of the worker now, without its ticks, which
// are forgotten: a server may stand for days.
func (c *conversation) snapshot() record.Worker {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.worker.Ticks, c.thin = nil, thinning{}
	return c.worker
}
