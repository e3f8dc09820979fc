package rig

import (
	"cmp"
	"fmt"

	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

// Seat is the host of one worker in a trial, with the worker's share of the CPUs
// there.
type Seat struct {
	Host
	CPUs []int // of the worker, among the host's; empty leaves them to the scheduler
}

// Seats places one server and a number of clients for a placement. Where both
// meet on one machine, separate gives the server the first half of the CPUs there
// and the clients the rest, unless their hosts have CPUs of their own; shared
// pins both to all CPUs of their host; free pins nothing.
func Seats(hosts []Host, placement string, clients int) (server Seat, others []Seat, err error) {
	if len(hosts) == 0 {
		return Seat{}, nil, fmt.Errorf("the rig has no host")
	}
	at := func(i int) Host {
		if len(hosts) == 1 {
			return hosts[0]
		}
		return hosts[1+i%(len(hosts)-1)]
	}
	server = Seat{hosts[0], hosts[0].CPUs}
	for i := range clients {
		others = append(others, Seat{at(i), at(i).CPUs})
	}
	switch placement {
	case record.Separate:
		err = separate(&server, others)
	case record.Shared:
	case record.Free:
		server.CPUs = nil
		for i := range others {
			others[i].CPUs = nil
		}
	default:
		err = fmt.Errorf("placement is %q, expected separate, shared or free", placement)
	}
	return server, others, err
}

// separate gives the server and the clients of one machine different CPUs.
func separate(server *Seat, clients []Seat) error {
	all := server.CPUs
	half := len(all) / 2
	for i := range clients {
		c := &clients[i]
		if cmp.Or(c.BootID, c.Name) != cmp.Or(server.BootID, server.Name) || len(cpuset.Common(c.CPUs, all)) == 0 {
			continue
		}
		if len(all) < 2 {
			return fmt.Errorf("placement=separate needs 2 CPUs, and %s allows %d; placement=shared works", server.Name, len(all))
		}
		server.CPUs = all[:half]
		c.CPUs = cpuset.Without(c.CPUs, all[:half])
		if len(c.CPUs) == 0 {
			return fmt.Errorf("placement=separate: all CPUs of %s (%s) belong to the server's half; give each host CPUs of its own, or use placement=shared", c.Name, cpuset.Format(all[:half]))
		}
	}
	return nil
}
