package main

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/study"
)

// clientsOnly holds the checks of a plan whose server stands elsewhere: every arm
// meets that one server, whatever the study calls it.
type clientsOnly struct {
	catalog *bench.Catalog
	servers []string // what the study calls the server, by arm
	clients []string
}

// pairs reports why a trial's client cannot be had.
func (l *clientsOnly) pairs(w study.Work) error {
	_, err := l.catalog.Offer(w.Client, w.Exchange.Codec)
	return err
}

// takes reports what a trial asks that only its server could give it.
func (l *clientsOnly) takes(w study.Work) error {
	l.servers, l.clients = append(l.servers, w.Server), append(l.clients, w.Client)
	if w.Server != l.servers[0] {
		return fmt.Errorf("its server is %s and another arm's is %s, but one server stands there; vary client=%s,%s instead, or run each against its own",
			w.Server, l.servers[0], l.clients[0], w.Client)
	}
	_, err := l.catalog.ClientOnly(w)
	return err
}

// leaveServerOut takes the server's metrics out of a study's primary ones, for
// a server that nobody here meters: no comparison could ever be made of them.
func leaveServerOut(s *study.Study) {
	mine := slices.DeleteFunc(slices.Clone(s.Compare.Primary), func(metric string) bool {
		return strings.HasPrefix(metric, string(contract.Server)+".") || strings.HasPrefix(metric, "host.")
	})
	if len(mine) == 0 {
		mine = []string{"exchanges_per_s"}
	}
	s.Compare.Primary = mine
}

// checkTrust refuses encrypted trials whose clients do not know the server's
// certificate, before anything runs.
func (p *plan) checkTrust() error {
	away, ok := p.rig.(rig.External)
	if !ok {
		return nil
	}
	for _, k := range p.kinds {
		if err := bench.Trusts(k.Work, away); err != nil {
			return err
		}
	}
	return nil
}

// withServer completes a study that names its client alone, for a server that
// stands elsewhere and is not ours to name.
func withServer(args []string, choice arrange.Choice) []string {
	if !choice.External() {
		return args
	}
	client := ""
	for _, a := range args {
		key, level, _ := strings.Cut(a, "=")
		switch key {
		case "client":
			client = level
		case "server", "transport", "arm":
			return args
		}
		if !strings.Contains(a, "=") {
			return args
		}
	}
	if first, _, _ := strings.Cut(client, ","); first != "" {
		return append(args[:len(args):len(args)], "server="+first)
	}
	return args
}

// seat places the workers of a trial; its server's seat is empty when the
// server stands elsewhere.
func (p *plan) seat(w study.Work) (server rig.Seat, clients []rig.Seat, err error) {
	if p.external {
		clients, err = rig.ClientSeats(p.hosts, w.Placement, w.Clients)
		return rig.Seat{}, clients, err
	}
	return rig.Seats(p.hosts, w.Placement, w.Clients)
}

// drives says where the clients sit and what they drive, of a rig whose server
// stands elsewhere.
func (p *plan) drives(away rig.External, placement string, seats []rig.Seat) string {
	return fmt.Sprintf("placement %s: clients %s, the server is what listens on %s", placement, p.seated(seats...), strings.Join(away.Peers(), " "))
}
