package rig

import (
	"context"
	"fmt"

	"netdyno/internal/run/cpuset"
)

// Loopback is the rig without privileges: its only host is this one.
type Loopback struct{}

// loopbackSources are enough for the most connections that a study may have.
const loopbackSources = 1024

// LoopbackName is what users call it.
const LoopbackName = "loopback"

// LoopbackKind is the rig of this host, as users choose it.
var LoopbackKind = Kind{Name: LoopbackName, Form: LoopbackName, Build: func(context.Context, Choice) (Rig, error) { return Loopback{}, nil }}

// Name implements Rig.
func (Loopback) Name() string { return LoopbackName }

// Hosts implements Rig.
func (Loopback) Hosts() []Host {
	const address = "127.0.0.1"
	return []Host{{Name: "local", Address: address, CPUs: cpuset.Of(0), Sources: loopbackAddresses(loopbackSources)}}
}

// Close implements Rig: there is nothing to give back.
func (Loopback) Close() error { return nil }

// loopbackAddresses returns n addresses of the loopback, 127.0.0.1 first. Each
// has its own range of ephemeral ports.
func loopbackAddresses(n int) []string {
	const perOctet = 254
	out := make([]string, 0, n)
	for i := range min(n, perOctet*perOctet) {
		out = append(out, fmt.Sprintf("127.0.%d.%d", i/perOctet, i%perOctet+1))
	}
	return out
}
