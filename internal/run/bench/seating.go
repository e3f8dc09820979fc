package bench

import (
	"context"
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// place finds out what the trial's work is, and where its workers sit.
func (t *trial) place(ctx context.Context) (err error) {
	if t.placed {
		return nil
	}
	if t.work, err = t.bench.decode(t.plan); err != nil {
		return &failure{Failure: record.Failure{Kind: contract.SetupFailed, Text: err.Error()}}
	}
	t.placed = true
	return t.seat(ctx)
}

// decode returns a trial's work.
func (b *Bench) decode(plan record.Trial) (study.Work, error) {
	work, err := study.Decode(plan.Levels)
	if err == nil && work.RateShare > 0 {
		return work, fmt.Errorf("rate=%s is a share of what %s does flat out, and none of its trials flat out gave a rate", plan.Levels[record.Rate], plan.Arm)
	}
	if err == nil && (work.Workload != "" || work.Times != "") {
		if b.Workload == nil {
			return work, fmt.Errorf("workload %q or arrival %q was not read before the run", work.Workload, work.Times)
		}
		return b.Workload(work, plan.Seed)
	}
	return work, err
}

// prepared returns what the rig could not do for this trial's hosts.
func (t *trial) prepared(context.Context) error {
	hosts := []string{t.serverSeat.Name}
	for _, seat := range t.clientSeats {
		hosts = append(hosts, seat.Name)
	}
	return t.round.errorOf(hosts)
}

// seat chooses the transports of both ends and the seats of all workers.
func (t *trial) seat(ctx context.Context) error {
	if external, ok := t.bench.Rig.(rig.External); ok {
		return t.seatClients(external)
	}
	var err error
	if t.serverEnd, t.clientEnd, t.hopEnds, err = t.bench.Catalog.meet(t.work); err != nil {
		return err
	}
	t.serverSeat, t.hopSeats, t.clientSeats, err = seats(t.bench.hosts(), t.work)
	if err == nil && t.clientEnd.Has(contract.Pair) && t.serverSeat.Address != t.clientSeats[0].Address {
		err = fmt.Errorf("transport %s starts both of its ends on one host, so no traffic would cross the link of rig %s", t.clientEnd.Name, t.bench.Rig.Name())
	}
	if err != nil {
		return &failure{Failure: record.Failure{Kind: contract.Unsupported, Text: err.Error()}}
	}
	return nil
}

// Seats places the workers of a trial on hosts.
func Seats(hosts []rig.Host, w study.Work) (server rig.Seat, clients []rig.Seat, err error) {
	server, _, clients, err = seats(hosts, w)
	return server, clients, err
}

// seats is Seats with those of the hops between them.
func seats(hosts []rig.Host, w study.Work) (server rig.Seat, hops, clients []rig.Seat, err error) {
	if hosts, err = rig.Ends(w.Hosts).Choose(hosts); err != nil {
		return rig.Seat{}, nil, nil, err
	}
	if server, clients, err = rig.Seats(hosts, w.Placement, w.Clients); err == nil && w.Path.Given {
		hops, err = rig.HopSeats(&server, clients, w.Placement, len(w.Path.Hops))
	}
	return server, hops, clients, err
}
