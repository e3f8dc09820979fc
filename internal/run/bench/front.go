package bench

import (
	"fmt"
	"net"
	"slices"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
)

// listenAt returns the host:port at which a worker with so many ports is to listen on a
// host: at port 0, of the kernel's choice, unless the host has a row of ports. These are
// given out in turn, so that a trial does not listen where the one before did, whose
// connections the kernel still remembers.
func (b *Bench) listenAt(h rig.Host, ports int) (string, error) {
	if len(h.Ports) == 0 {
		return net.JoinHostPort(h.Address, "0"), nil
	}
	if ports > len(h.Ports) {
		return "", &failure{Failure: record.Failure{Kind: contract.Unsupported, Text: fmt.Sprintf("%s has %d ports by which a service reaches it, and %d are needed; use fewer servers, listeners or hops", h.Name, len(h.Ports), ports)}}
	}
	b.sealing.Lock()
	defer b.sealing.Unlock()
	if b.nextPort+ports > len(h.Ports) {
		b.nextPort = 0
	}
	port := h.Ports[b.nextPort]
	b.nextPort += ports
	return net.JoinHostPort(h.Address, strconv.Itoa(port)), nil
}

// listenServers tells every server where to listen.
func (t *trial) listenServers(base contract.Setup) ([]contract.Setup, error) {
	all := slices.Repeat([]contract.Setup{base}, len(t.servers))
	row := t.serverSeat.Ports
	if need := len(all)*max(base.Listeners, 1) + len(t.hops); len(row) > 0 && need > len(row) {
		_, err := t.bench.listenAt(t.serverSeat.Host, need)
		return nil, err
	}
	for i := range all {
		var err error
		if all[i].Listen, err = t.bench.listenAt(t.serverSeat.Host, max(base.Listeners, 1)); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// fronted returns where others connect to what listens on a host: at these addresses,
// unless the others are on another host and a service leads to this one.
func fronted(at rig.Host, listens []string, others ...rig.Seat) []string {
	if at.Front == "" || slices.ContainsFunc(others, func(s rig.Seat) bool { return s.Name == at.Name }) {
		return listens
	}
	all := make([]string, len(listens))
	for i, address := range listens {
		_, port, _ := net.SplitHostPort(address) // it was looked at when its worker got ready
		all[i] = net.JoinHostPort(at.Front, port)
	}
	return all
}
