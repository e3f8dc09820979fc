package rig

import (
	"fmt"
	"slices"

	"netdyno/internal/run/cpuset"
)

// Seat is one end's place: where a worker runs and under which address the
// others reach it.
type Seat struct {
	Name    string   // in records and reports
	Address string   // data address that servers bind and clients connect to
	Prefix  []string // argv that launches a command there; empty for this host
	CPUs    []int    // CPUs of its workers; empty leaves them to the scheduler
}

// Rig seats one server and any number of clients.
type Rig interface {
	// Name returns what the user chose, "loopback".
	Name() string
	// Seats returns the server's seat and those of the clients for a
	// placement ("apart", "shared", "free").
	Seats(placement string, clients int) (server Seat, client []Seat, err error)
}

// Loopback is the rig without privileges: every seat is this host.
type Loopback struct{}

// Name implements Rig.
func (Loopback) Name() string { return "loopback" }

// Seats implements Rig. Apart gives the server the first half of the usable
// CPUs and the clients the rest; shared gives everyone all of them, pinned as
// a set; free leaves the scheduler its choice.
func (Loopback) Seats(placement string, clients int) (Seat, []Seat, error) {
	usable := cpuset.Of(0)
	var serverCPUs, clientCPUs []int
	switch placement {
	case "apart":
		if len(usable) < 2 {
			return Seat{}, nil, fmt.Errorf("placement=apart needs 2 CPUs, this host lets us use %d; placement=shared is possible", len(usable))
		}
		half := len(usable) / 2
		serverCPUs, clientCPUs = usable[:half], usable[half:]
	case "shared":
		serverCPUs, clientCPUs = usable, usable
	case "free":
	default:
		return Seat{}, nil, fmt.Errorf("placement is %q, expected apart, shared or free", placement)
	}
	const address = "127.0.0.1"
	seats := make([]Seat, clients)
	for i := range seats {
		seats[i] = Seat{Name: "local", Address: address, CPUs: slices.Clone(clientCPUs)}
	}
	return Seat{Name: "local", Address: address, CPUs: serverCPUs}, seats, nil
}

// Sources returns n loopback addresses to connect from, 127.0.0.1 first. Each
// has its own range of ephemeral ports.
func Sources(n int) []string {
	const perOctet = 254
	out := make([]string, 0, n)
	for i := range min(n, perOctet*perOctet) {
		out = append(out, fmt.Sprintf("127.0.%d.%d", i/perOctet, i%perOctet+1))
	}
	return out
}
