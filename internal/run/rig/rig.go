package rig

import (
	"context"
	"fmt"

	"netdyno/internal/record"
	"netdyno/internal/run/cpuset"
)

// Rig is an arrangement of hosts, ready for use. Whoever made one closes it,
// and then nothing of it is left anywhere.
type Rig interface {
	// Name returns what the user chose, in canonical form: "loopback", "netns:3".
	Name() string
	// Hosts returns where workers sit: the server at the first, the clients
	// at the others in turn; at the only one all of them.
	Hosts() []Host
	// Close gives everything back. It may be called more than once.
	Close() error
}

// Shaper is a rig whose link between the hosts can be changed.
type Shaper interface {
	// Shape makes the link what a trial asks for; the zero Link leaves it as
	// fast as it is. It is called before every trial, or every round of trials that
	// run at the same time, with no worker running. What is wrong with single hosts are
	// HostErrors.
	Shape(ctx context.Context, link record.Link) error
}

// Unshaped is the error of a rig whose link cannot be shaped.
func Unshaped(r Rig) error {
	return fmt.Errorf("rig %s cannot shape a link (link.rate, link.delay, link.loss); --rig netns can", r.Name())
}

// Deployer is a rig that brings files to its hosts.
type Deployer interface {
	// Deploy makes files of this host runnable at every host, verified
	// there, and enters where they lie in Hosts.
	Deploy(ctx context.Context, files []string) error
}

// Recoverer is a rig that a failed trial may leave in disorder: a connection gone,
// a command killed here whose other end runs on.
type Recoverer interface {
	// Recover ends what is left of trials and makes the hosts usable again. It is called
	// before the trial that follows a failed one; when Recover fails, that trial fails.
	// Hosts that cannot be made usable are returned as HostErrors, after all other hosts
	// were recovered.
	Recover(ctx context.Context) error
}

// Informed is a rig that knows of its hosts what no program there can tell.
type Informed interface {
	// Facts returns that by host, once the hosts stand.
	Facts() map[string]map[string]string
}

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
