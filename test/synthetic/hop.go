package synthetic

import (
	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// Hop puts a hop between the clients and the server of a record: a process of this name
// that uses so many nanoseconds of CPU time for an exchange, holds this much memory for a
// connection beside 3 MiB, and carried over the clients' connections what these moved.
func Hop(r *record.Record, name string, cpuNs, connectionBytes int64) {
	client, server := &r.Workers[len(r.Workers)-1], &r.Workers[0]
	connections := int64(client.Setup.Load.Connections)
	counts := client.Result.Counts
	up, down, _ := client.Sizes()
	const own = 3 << 20
	edge := func(at *record.Edge, done int64) *record.Edge {
		m := *at.Meter
		m.Process = contract.Process{CPUNs: 1_000_000 + done*cpuNs, RSSBytes: own + connections*connectionBytes, Processes: 1, Threads: 1}
		m.Threads = nil
		m.TCP = &contract.TCP{Sockets: int(connections), ReceivedBytes: done * (up + 50), AckedBytes: done * (down + 50)}
		return &record.Edge{Reading: contract.Reading{AtNs: at.Reading.AtNs}, Meter: &m}
	}
	begun := counts.Exchanges / 4 // in the warm-up
	r.Workers = append(r.Workers, record.Worker{
		Name: "hop", Role: contract.Hop, Seat: server.Seat, Transport: name, CPUSet: server.CPUSet,
		Setup:   &contract.Setup{Transport: name, Role: contract.Hop, Load: contract.Load{Connections: int(connections)}},
		Ready:   &contract.Ready{Foreign: true, Options: map[string]any{"wire": "http/1.1", "version": name + " 1", "configuration": "listen HOST:PORT\n\tto UPSTREAM\n"}},
		AtReady: &contract.Meter{Process: contract.Process{RSSBytes: own}},
		Idle:    edge(server.Open, 0), Open: edge(server.Open, begun), Close: edge(server.Close, begun+counts.Exchanges),
		Result: &contract.Result{}, Exit: &contract.Exit{},
	})
}

// hopCosts are the nanoseconds of CPU time that hops use for an exchange.
var hopCosts = map[string]int64{"nginx": 30_000, "haproxy": 36_000, "envoy": 80_000, "caddy": 90_000}
