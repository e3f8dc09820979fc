package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// trial is one trial under way. Its goroutine owns it; the conversations
// gather beside it.
type trial struct {
	bench   *Bench
	plan    record.Trial
	round   *round
	work    study.Work
	begun   time.Time
	servers []*conversation // none when a pair does without
	hops    []*conversation // between the two, from the clients on
	clients []*conversation // or the one pair
	all     []*conversation
	line    record.Timeline
	ctx     context.Context         // ends with the trial
	fail    context.CancelCauseFunc // ends it
	placed  bool                    // its work is known, and where its workers sit
	started bool                    // so are its workers
	warm    *record.WarmUp          // nil until it is over, and where it was not watched

	examining            sync.Mutex // held by who asks the meters what they see
	serverSeat           rig.Seat
	hopSeats             []rig.Seat
	hopEnds              []Offer
	clientSeats          []rig.Seat
	serverEnd, clientEnd Offer    // the same when a pair does without a server
	peers                []string // of servers that nobody here starts

	turns [][2]int64 // of its clients in a stint; nil for always
}

// trial carries out one planned trial of a round and always returns its record; what
// the rig says of its link is the round's to add.
func (b *Bench) trial(ctx context.Context, plan record.Trial, r *round) record.Record {
	t := b.taken(ctx, plan, r)
	defer t.fail(nil)
	t.begun = time.Now()
	out := record.Record{Schema: record.Schema, Trial: plan, StartedAt: t.begun.UTC(), Noise: record.Noise{LoadAverage: loadAverage()}}
	err := t.conduct(t.ctx)
	for _, c := range t.all {
		c.askToEnd()
	}
	if err == nil {
		b.startAhead(ctx, t)
	}
	workers, closeErr := t.closeAll()
	out.Workers, err = workers, errors.Join(err, closeErr)
	t.line.EndNs = t.elapsed()
	out.Timeline, out.WarmUp = t.line, t.warm
	out.Outcome, out.Failure = outcome(err)
	t.nameServer(out.Failure)
	nameLackOfMemory(&out)
	return out
}

// newTrial returns a trial that has not begun.
func (b *Bench) newTrial(parent context.Context, plan record.Trial, r *round) *trial {
	t := &trial{bench: b, plan: plan, round: r}
	t.ctx, t.fail = context.WithCancelCause(parent)
	return t
}

// closeAll ends every worker at once and returns their parts of the record.
func (t *trial) closeAll() ([]record.Worker, error) {
	workers := make([]record.Worker, len(t.all))
	var group errgroup.Group
	for i, c := range t.all {
		group.Go(func() (err error) {
			workers[i], err = c.close()
			return err
		})
	}
	return workers, group.Wait()
}

// outcome sorts a trial's end. Only a trial that was cut short has a failure.
func outcome(err error) (record.Outcome, *record.Failure) {
	var f *failure
	switch {
	case err == nil:
		return record.OK, nil
	case errors.As(err, &f) && f.Kind == contract.Unsupported:
		return record.Unsupported, &f.Failure
	case errors.As(err, &f):
		return record.Failed, &f.Failure
	}
	return record.Failed, &record.Failure{Kind: contract.Bug, Text: err.Error()}
}

func (t *trial) elapsed() int64 { return int64(time.Since(t.begun)) }

// conduct leads the workers through the contract's life. The first failure of
// any of them ends it.
func (t *trial) conduct(ctx context.Context) error {
	for _, step := range []func(context.Context) error{
		t.place,
		t.prepared,
		t.launch,
		func(ctx context.Context) error {
			return t.each(t.all, func(c *conversation) error { return t.awaitHello(ctx, c) })
		},
		t.setUp,
		t.measure,
	} {
		if err := step(ctx); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return t.each(t.all, (*conversation).lostPeers) // whose reason is still waited for
}

// launch starts every worker on its seat.
func (t *trial) launch(context.Context) error {
	if t.started {
		return nil
	}
	t.started = true
	start := func(name string, role contract.Role, seat rig.Seat, offer Offer) (*conversation, error) {
		return t.startWorker(t.ctx, workerPlan{name, role, seat, offer, t.bound()}, t.fail)
	}
	role := contract.Client
	if t.clientEnd.Has(contract.Pair) {
		role = contract.Pair
	} else {
		for i := range t.work.Servers {
			c, err := start(serverName(i, t.work.Servers), contract.Server, t.serverSeat, t.serverEnd)
			if err != nil {
				return err
			}
			t.servers = append(t.servers, c)
		}
		if err := t.launchHops(start); err != nil {
			return err
		}
	}
	for i, seat := range t.clientSeats {
		c, err := start(fmt.Sprintf("client-%d", i+1), role, seat, t.clientEnd)
		if err != nil {
			return err
		}
		if t.plan.ID == t.round.shown { // ticks of several would be taken for one trial's
			c.onTick(func(tick contract.Tick) { t.bench.tell(Event{Client: i, Tick: &tick}) })
		}
		t.clients = append(t.clients, c)
	}
	return nil
}

// serverName returns the name of server i of n: a number only where it tells.
func serverName(i, n int) string {
	if n == 1 {
		return "server"
	}
	return fmt.Sprintf("server-%d", i+1)
}

// workerPlan is a worker to be started: its role, its seat and its program.
type workerPlan struct {
	name  string
	role  contract.Role
	seat  rig.Seat
	offer Offer
	bound time.Duration // after which its meter ends it; 0 for never
}

// startWorker launches a metered worker on its seat.
func (t *trial) startWorker(ctx context.Context, a workerPlan, fail context.CancelCauseFunc) (*conversation, error) {
	program := a.offer.Program
	sum, err := program.SHA256()
	if err != nil {
		return nil, err
	}
	roam := t.roams(a)
	argv := a.seat.Command(append(t.bench.meterArgv(a.seat, roam, a.bound), program.Path)...)
	c := &conversation{
		worker: record.Worker{
			Name: a.name, Role: a.role, Seat: a.seat.Name, Transport: a.offer.Name, Delivery: a.offer.Delivery,
			Binary: filepath.Base(program.Path), SHA256: sum, Version: program.Hello.Version, CPUSet: slices.Sorted(slices.Values(append(roam, a.seat.CPUs...))),
		},
		host: a.seat.Host, trial: ctx, fail: fail, late: t.late, explain: t.explain, metered: len(t.bench.Meter) > 0,
		serverOurs: a.role == contract.Client && t.work.Servers > 0,
	}
	if err := c.converse(argv); err != nil {
		return nil, err
	}
	t.all = append(t.all, c)
	return c, nil
}

// roams returns the CPUs that a client changes to and back, as many as it has: those of the
// server, where the kernel moves that.
func (t *trial) roams(a workerPlan) []int {
	n := len(a.seat.CPUs)
	if !t.bench.Roams || a.role != contract.Client || len(t.serverSeat.CPUs) < n {
		return nil
	}
	return slices.Clone(t.serverSeat.CPUs[:n])
}

// bound is how long the whole trial may take, for the meters to enforce when
// we no longer can.
func (t *trial) bound() time.Duration {
	setup := t.setupTimeout()
	if t.work.Load.Amount > 0 {
		return setup + t.bench.Timeouts.Amount + time.Minute
	}
	return setup + max(t.work.Warmup, t.work.WarmupMost) + t.work.Window + time.Minute
}

func (t *trial) setupTimeout() time.Duration {
	tries := time.Duration(contract.Tries(t.work.Load.MaxErrors)) // of an exchange that may fail at its deadline
	return t.bench.Timeouts.Setup + time.Duration(t.work.Load.Connections)*perConnection + tries*time.Duration(t.work.Load.DeadlineNs)
}

// setUp makes the servers listen and the clients connect.
func (t *trial) setUp(ctx context.Context) error {
	setups, err := t.setups()
	if err != nil {
		return err
	}
	setups.server.Listen = listenAt(t.serverSeat.Host)
	addresses := make([][]string, len(t.servers))
	var group errgroup.Group
	for i, c := range t.servers {
		group.Go(func() (err error) {
			addresses[i], err = t.ready(ctx, c, setups.server)
			return err
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	peers, err := t.setUpHops(ctx, setups.server, append(slices.Concat(addresses...), t.peers...))
	if err != nil {
		return err
	}
	err = t.each(t.clients, func(c *conversation) error {
		setup := setups.client[c.worker.Name]
		setup.Peers = turned(peers, setups.before[c.worker.Name])
		_, err := t.ready(ctx, c, setup)
		return err
	})
	t.line.ReadyNs = t.elapsed()
	return t.misspoken(ctx, peers, err)
}

// turned returns the peers in the order in which a client takes them whose
// first connection has this number among all clients' connections: of three
// peers number 4 begins with the second. So the connections of all clients
// together go to the peers in turn.
func turned(peers []string, connection int) []string {
	if len(peers) == 0 {
		return nil
	}
	first := connection % len(peers)
	return slices.Concat(peers[first:], peers[:first])
}

// ready gives one worker its setup and returns where it listens.
func (t *trial) ready(ctx context.Context, c *conversation, setup contract.Setup) ([]string, error) {
	c.set(func(w *record.Worker) { w.Setup = recorded(setup) })
	if err := c.send(contract.Message{Setup: &setup}); err != nil {
		return nil, context.Cause(ctx)
	}
	m, err := c.await(ctx, "ready", t.setupTimeout())
	if err != nil {
		return nil, err
	}
	if setup.Role.Serves() && len(m.Ready.Addresses) == 0 {
		c.failed(contract.Invalid, "is ready but names no address to connect to (CONTRACT.md, section ready)")
		return nil, context.Cause(ctx)
	}
	if setup.Role.Serves() && !(m.Ready.Elsewhere && t.serverEnd.foreign()) { // where else one is, the user has said
		if err := misplaced(m.Ready.Addresses, setup.Listen); err != nil {
			c.failed(contract.Invalid, err.Error())
			return nil, context.Cause(ctx)
		}
	}
	c.enter("ready")
	c.set(func(w *record.Worker) {
		w.Ready, w.AtReady = m.Ready, m.Meter
		w.Delivery = cmp.Or(m.Ready.Delivery, w.Delivery)
	})
	return m.Ready.Addresses, nil
}

// each does the same with several workers at once and returns the first error.
func (t *trial) each(them []*conversation, do func(*conversation) error) error {
	var group errgroup.Group
	for _, c := range them {
		group.Go(func() error { return do(c) })
	}
	return group.Wait()
}

// awaitHello waits for a worker's hello. A file may have changed since it was found,
// and another host may hold another one, so the version is asked here again.
func (t *trial) awaitHello(ctx context.Context, c *conversation) error {
	m, err := c.await(ctx, "hello", t.bench.Timeouts.Hello)
	if err != nil {
		return err
	}
	if v := m.Hello.Contract; v != contract.Version {
		c.failed(contract.Invalid, fmt.Sprintf("speaks contract %d, this netdyno speaks %d (CONTRACT.md, section Versioning)", v, contract.Version))
		return context.Cause(ctx)
	}
	c.enter("idle")
	return nil
}

// misplaced reports the first address of a ready server that clients must not be
// sent to: one that is no host:port, or that is not of the host where the setup
// bound it. Nil when there is none. Where it was bound is not told by a name, nor
// by the address of every interface.
func misplaced(addresses []string, listen string) error {
	bound, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("read the address to listen on: %w", err)
	}
	for _, address := range addresses {
		host, port, err := net.SplitHostPort(address)
		if err != nil {
			return fmt.Errorf("says it listens on %q, expected host:port: %w (CONTRACT.md, section ready)", address, err)
		}
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return fmt.Errorf("says it listens on %q, expected a port from 1 to 65535 (CONTRACT.md, section ready)", address)
		}
		if !sameHost(host, bound) {
			return fmt.Errorf("says it listens on %s, but it was to bind %s: clients would drive another host (CONTRACT.md, section ready)", address, bound)
		}
	}
	return nil
}

// sameHost compares two hosts of addresses. A bound that is a name or stands for
// every interface allows any.
func sameHost(host, bound string) bool {
	want, err := netip.ParseAddr(bound)
	if err != nil || want.IsUnspecified() {
		return true
	}
	got, err := netip.ParseAddr(host)
	return err == nil && got.Unmap().WithZone("") == want.Unmap().WithZone("")
}
