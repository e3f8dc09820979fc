package bench

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

// ownHop is the transport of a hop that a command line of the user's starts.
const ownHop = "hop-exec"

// hops returns the transports of what lies between clients and server, from the clients
// on. The error names a hop that no worker has, or a wire that one does not carry.
func (c *Catalog) hops(w study.Work, server, client Offer) ([]Offer, error) {
	switch {
	case len(w.Path.Hops) == 0:
		return nil, nil
	case client.Has(contract.Pair):
		return nil, fmt.Errorf("path: transport %s starts both of its ends itself, so nothing can lie between them", client.Name)
	case server.UDP:
		return nil, fmt.Errorf("path: transport %s moves datagrams, which no hop here carries", server.Name)
	case w.Servers*max(w.Listeners, 1) > 1 && w.Path.Hops[len(w.Path.Hops)-1].Own:
		return nil, fmt.Errorf("path: a hop of your own is told of one server, and there are servers=%d listeners=%d", w.Servers, w.Listeners)
	}
	var hops []Offer
	for _, h := range w.Path.Hops {
		offer, err := c.hop(cmp.Or(h.Transport, ownHop))
		if err != nil {
			return nil, err
		}
		if wires := offer.wires(); wires != nil && !slices.Contains(wires, wireOf(server, w)) {
			return nil, fmt.Errorf("path: %s does not carry wire %s as netdyno sets it up, it carries %v", offer.Name, wireOf(server, w), wires)
		}
		hops = append(hops, offer)
	}
	return hops, nil
}

// hop returns the transport of a name that some worker has in role hop.
func (c *Catalog) hop(name string) (Offer, error) {
	names := []string{record.Direct}
	for _, o := range c.all() {
		if !o.Has(contract.Hop) {
			continue
		}
		if o.Name == name {
			return o, nil
		}
		if o.Name != ownHop {
			names = append(names, o.Name)
		}
	}
	return Offer{}, fmt.Errorf("path: no hop %q here; %s", name, quantity.Hint(name, append(names, "exec:COMMAND")))
}

// wires are those that a hop carries; nil for any.
func (o Offer) wires() []string {
	for _, option := range o.Options {
		if option.Name == "wire" {
			return option.Choices
		}
	}
	return nil
}

// launchHops starts the hops of the trial's path, the one next to the clients first.
func (t *trial) launchHops(start func(name string, role contract.Role, seat rig.Seat, offer Offer) (*conversation, error)) error {
	for i, offer := range t.hopEnds {
		name := "hop"
		if len(t.hopEnds) > 1 {
			name = fmt.Sprintf("hop-%d", i+1)
		}
		c, err := start(name, contract.Hop, t.hopSeats[i], offer)
		if err != nil {
			return err
		}
		t.hops = append(t.hops, c)
	}
	return nil
}

// setUpHops has the hops listen, the one next to the servers first, each told of what
// listens behind it. It returns where clients connect: the servers without a hop.
func (t *trial) setUpHops(ctx context.Context, base contract.Setup, servers []string) ([]string, error) {
	listens := servers
	for i := len(t.hops) - 1; i >= 0; i-- {
		setup := base
		setup.Work, setup.Listeners, setup.Allow = nil, 0, nil
		setup.Transport, setup.Role, setup.Peers = t.hopEnds[i].Name, contract.Hop, listens
		setup.Options = map[string]any{"wire": wireOf(t.serverEnd, t.work)}
		if h := t.work.Path.Hops[i]; h.Own {
			setup.Options["command"] = h.Command
		}
		var err error
		setup.Listen = listenAt(t.hopSeats[i].Host)
		if listens, err = t.ready(ctx, t.hops[i], setup); err != nil {
			return nil, err
		}
	}
	return listens, nil
}

// listenAt is where a worker on a host is to listen: at ports of the kernel's choice.
func listenAt(h rig.Host) string { return net.JoinHostPort(h.Address, "0") }

// addresses are those at which clients meet what they take for the server, and of hops
// that connect to it.
func (t *trial) addresses() []string {
	var all []string
	for _, seat := range append([]rig.Seat{t.serverSeat}, t.hopSeats...) {
		all = append(all, seat.Address)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// behindClients are the workers that serve: servers and hops.
func (t *trial) behindClients() []*conversation { return slices.Concat(t.servers, t.hops) }

// allowed are whom a server lets in: its clients, and where there are hops these too.
func (t *trial) allowed(clients []string) []string {
	if len(t.hopSeats) == 0 {
		return clients
	}
	return slices.Concat(clients, t.addresses())
}
