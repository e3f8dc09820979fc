// Package wire holds what transports over the network share: addresses, dialling,
// listening, socket buffers, TLS, and the life of a client.
package wire

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"

	"netdyno/internal/contract"
	"netdyno/internal/unixsocket"
	"netdyno/internal/work/load"
)

// Route is the two ends of a connection. Where Source is invalid the kernel chooses
// it.
type Route struct {
	Source netip.Addr
	Peer   Peer
}

// Peer is where a server listens: an address and a port, or a Unix socket.
type Peer struct {
	netip.AddrPort
	Socket string // its path, or @name; "" for TCP
}

// String is the peer as setup.peers names it.
func (p Peer) String() string {
	if p.Socket != "" {
		return unixsocket.Address(p.Socket)
	}
	return p.AddrPort.String()
}

// Host is the peer as a URL names it: that of a Unix socket has no name of its own.
func (p Peer) Host() string {
	if p.Socket != "" {
		return "localhost"
	}
	return p.AddrPort.String()
}

// parsePeer reads an address of TCP or UDP.
func parsePeer(text string) (Peer, error) {
	if _, is := unixsocket.Path(text); is {
		return Peer{}, fmt.Errorf("%s is a Unix socket, which this client cannot dial; go-http1, go-http2, fasthttp, go-grpc and those of HTTP and gRPC in C++ can", text)
	}
	at, err := netip.ParseAddrPort(text)
	return Peer{AddrPort: at}, err
}

// parseStream reads an address of TCP or a Unix socket.
func parseStream(text string) (Peer, error) {
	if path, is := unixsocket.Path(text); is {
		path, err := unixsocket.Absolute(path)
		return Peer{Socket: path}, err
	}
	return parsePeer(text)
}

// Apart tells whether a client tells apart what it counted by its peers: those are addresses of
// another's server.
func Apart(setup contract.Setup) bool {
	n := len(setup.Peers)
	return n > 1 && n <= contract.MostClasses && load.Options(setup.Options).Text("verify") != VerifyContent
}

// Routes returns the route of every connection. Peers and sources take turns.
func Routes(setup contract.Setup) ([]Route, error) { return routes(setup, parsePeer) }

func routes(setup contract.Setup, parse func(string) (Peer, error)) ([]Route, error) {
	if len(setup.Peers) == 0 {
		return nil, load.Failure(contract.SetupFailed, errors.New("setup.peers is empty, expected the server's addresses"))
	}
	peers, err := parseAll(setup.Peers, "setup.peers", parse)
	if err != nil {
		return nil, err
	}
	sources, err := parseAll(setup.Sources, "setup.sources", netip.ParseAddr)
	if err != nil {
		return nil, err
	}
	all := make([]Route, setup.Load.Connections)
	for i := range all {
		all[i].Peer = peers[i%len(peers)]
		if len(sources) > 0 && all[i].Peer.Socket == "" {
			all[i].Source = sources[i%len(sources)]
		}
	}
	return all, nil
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
// all. It counts what it refuses. Any goroutine may use it.
type Allowed struct {
	all       map[netip.Addr]bool
	mu        sync.Mutex
	strangers contract.Strangers
}

// AllowedOf reads setup.allow.
func AllowedOf(setup contract.Setup) (*Allowed, error) {
	list, err := parseAll(setup.Allow, "setup.allow", netip.ParseAddr)
	if err != nil {
		return nil, err
	}
	allowed := &Allowed{all: map[netip.Addr]bool{}}
	for _, a := range list {
		allowed.all[a.Unmap()] = true
	}
	return allowed, nil
}

// Accepts reports whether a client at addr may connect. Ask once for each connection.
func (a *Allowed) Accepts(addr netip.Addr) bool {
	if len(a.all) == 0 || a.all[addr.Unmap()] {
		return true
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.strangers.Connections++; a.strangers.Connections == 1 {
		a.strangers.First = addr.Unmap().String()
	}
	return false
}

// Strangers returns what was refused so far; nil for nothing. The caller owns it.
func (a *Allowed) Strangers() *contract.Strangers {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.strangers.Connections == 0 {
		return nil
	}
	refused := a.strangers
	return &refused
}

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
		// The same words for every connection, and the cure first: a reason is cut at 120 bytes.
		return load.Failure(contract.SetupFailed, fmt.Errorf("no local port is free for %s: widen net.ipv4.ip_local_port_range or give several sources: %w", route.Peer, err))
	case route.Peer.Socket != "" && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ENOENT)):
		err = unixsocket.Explain(route.Peer.Socket, err)
	case errors.Is(err, syscall.ECONNREFUSED):
		hint = ": nothing listens there"
	case errors.As(err, &timed) && timed.Timeout():
		kind, hint = contract.Timeout, ": no answer came from there"
	}
	return load.Failure(kind, fmt.Errorf("connect %d of %d to %s: %w%s", connection+1, of, route.Peer, err, hint))
}
