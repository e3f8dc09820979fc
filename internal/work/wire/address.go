// Package wire holds what transports over the network share: addresses, dialling,
// listening, socket buffers, TLS, and the life of a client.
package wire

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Route is the two ends of a connection. Where Source is invalid the kernel chooses
// it.
type Route struct {
	Source netip.Addr
	Peer   netip.AddrPort
}

// Routes returns the route of every connection. Peers and sources take turns.
func Routes(setup contract.Setup) ([]Route, error) {
	if len(setup.Peers) == 0 {
		return nil, load.Failure(contract.SetupFailed, errors.New("setup.peers is empty, expected the server's addresses"))
	}
	peers, err := parseAll(setup.Peers, "setup.peers", netip.ParseAddrPort)
	if err != nil {
		return nil, err
	}
	sources, err := parseAll(setup.Sources, "setup.sources", netip.ParseAddr)
	if err != nil {
		return nil, err
	}
	routes := make([]Route, setup.Load.Connections)
	for i := range routes {
		routes[i].Peer = peers[i%len(peers)]
		if len(sources) > 0 {
			routes[i].Source = sources[i%len(sources)]
		}
	}
	return routes, nil
}

func parseAll[T any](texts []string, key string, parse func(string) (T, error)) ([]T, error) {
	out := make([]T, len(texts))
	for i, text := range texts {
		v, err := parse(text)
		if err != nil {
			return nil, load.Failure(contract.SetupFailed, fmt.Errorf("%s[%d]: %w", key, i, err))
		}
		out[i] = v
	}
	return out, nil
}

// Allowed is the set of client addresses that a server accepts; empty accepts
// all.
type Allowed map[netip.Addr]bool

// AllowedOf reads setup.allow.
func AllowedOf(setup contract.Setup) (Allowed, error) {
	list, err := parseAll(setup.Allow, "setup.allow", netip.ParseAddr)
	if err != nil {
		return nil, err
	}
	allowed := Allowed{}
	for _, a := range list {
		allowed[a.Unmap()] = true
	}
	return allowed, nil
}

// Accepts reports whether a client at addr may connect.
func (a Allowed) Accepts(addr netip.Addr) bool { return len(a) == 0 || a[addr.Unmap()] }

// ListenFailure returns the error of kind setup for an address that cannot be
// listened on.
func ListenFailure(address string, err error) error {
	if errors.Is(err, syscall.EADDRINUSE) {
		err = fmt.Errorf("listen on %s: the port is in use by another program; let netdyno choose one (port 0)", address)
	} else {
		err = fmt.Errorf("listen on %s: %w", address, err)
	}
	return load.Failure(contract.SetupFailed, err)
}

// ConnectFailure returns the error for a connection that could not be made, with
// advice and the contract's kind.
func ConnectFailure(connection, of int, route Route, err error) error {
	kind, hint := contract.Peer, ""
	var timed net.Error
	switch {
	case errors.Is(err, syscall.EMFILE):
		kind, hint = contract.SetupFailed, fmt.Sprintf(": too few file descriptors, %d connections need as many; raise `ulimit -n`", of)
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		kind, hint = contract.SetupFailed, ": no free local port; give several source addresses or widen net.ipv4.ip_local_port_range"
	case errors.Is(err, syscall.ECONNREFUSED):
		hint = ": nothing listens there"
	case errors.As(err, &timed) && timed.Timeout():
		kind, hint = contract.Timeout, ": no answer came from there"
	}
	return load.Failure(kind, fmt.Errorf("connect %d of %d to %s: %w%s", connection+1, of, route.Peer, err, hint))
}
