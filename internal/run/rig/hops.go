package rig

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

// HopSeats places the hops between clients and a server that Seats has placed, the one
// next to the clients first: all on the server's host, but of several the first on the
// first client's, as sidecars are.
//
// Where CPUs are to be separate, the hops of a machine have a share of its CPUs, which the
// server and the clients give up, also for a path without hops: so paths can be compared.
// A machine with fewer CPUs than shares has a hop run on those of the end beside it.
func HopSeats(server *Seat, clients []Seat, placement string, hops int) ([]Seat, error) {
	nearServer, nearClients := server.CPUs, []int(nil)
	if len(clients) > 0 {
		nearClients = clients[0].CPUs
	}
	if placement == record.Separate {
		if slices.ContainsFunc(clients, func(c Seat) bool { return c.meets(*server) }) {
			all := server.Host.CPUs
			if share := len(all) / 3; share > 0 {
				nearServer = all[share : 2*share]
				nearClients = nearServer
				server.CPUs = all[:share]
				if err := leave(clients, server, all[:2*share]); err != nil {
					return nil, err
				}
			}
		} else {
			nearServer = halve(&server.CPUs)
			if hops > 1 && len(clients) > 0 {
				all := clients[0].CPUs
				if nearClients = halve(&all); len(all) < len(clients[0].CPUs) {
					if err := leave(clients, &clients[0], nearClients); err != nil {
						return nil, err
					}
				}
			}
		}
	}
	var seats []Seat
	for i := range hops {
		seat := Seat{server.Host, nearServer}
		if i == 0 && hops > 1 && len(clients) > 0 {
			seat = Seat{clients[0].Host, nearClients}
		}
		seats = append(seats, seat)
	}
	return seats, nil
}

// halve returns the second half of some CPUs and leaves the first; of a single CPU it
// returns that and takes nothing.
func halve(cpus *[]int) []int {
	all := *cpus
	if len(all) < 2 {
		return all
	}
	*cpus = all[:(len(all)+1)/2]
	return all[len(*cpus):]
}

// leave takes CPUs from the clients that may run on those of an end.
func leave(clients []Seat, end *Seat, taken []int) error {
	for i := range clients {
		if c := &clients[i]; c.meets(*end) {
			if c.CPUs = cpuset.Without(c.Host.CPUs, taken); len(c.CPUs) == 0 {
				return fmt.Errorf("placement=separate: no CPU of %s is left beside the server's and the hops' (%s); use placement=shared", c.Name, cpuset.Format(taken))
			}
		}
	}
	return nil
}

// meets tells whether two seats are on one machine with CPUs in common.
func (s Seat) meets(other Seat) bool {
	return cmp.Or(s.BootID, s.Name) == cmp.Or(other.BootID, other.Name) && len(cpuset.Common(s.Host.CPUs, other.Host.CPUs)) > 0
}
