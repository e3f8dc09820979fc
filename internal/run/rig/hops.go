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
	var err error
	switch together := slices.ContainsFunc(clients, func(c Seat) bool { return c.meets(*server) }); {
	case placement != record.Separate:
	case !together:
		nearServer = halve(&server.CPUs)
		if hops > 1 && len(clients) > 0 {
			nearClients, err = halfOf(clients)
		}
	case len(server.Host.CPUs) >= 3:
		nearServer, err = thirds(server, clients)
		nearClients = nearServer
	}
	if err != nil {
		return nil, err
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

// thirds gives the first third of a machine's CPUs to the server and the last to the
// clients, and returns the one between.
func thirds(server *Seat, clients []Seat) ([]int, error) {
	all := server.Host.CPUs
	share := len(all) / 3
	server.CPUs = all[:share]
	return all[share : 2*share], leave(clients, server, all[:2*share])
}

// halfOf takes half of the first client's CPUs from the clients of its machine.
func halfOf(clients []Seat) ([]int, error) {
	left := clients[0].CPUs
	taken := halve(&left)
	if len(left) == len(clients[0].CPUs) { // a single CPU is shared
		return taken, nil
	}
	return taken, leave(clients, &clients[0], taken)
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
