package wire

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"syscall"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Listeners are a server's listening ports. They accept only clients at the
// addresses of setup.allow, and know which connections are open. Any goroutine may
// use them. A library serves each of All; at the end, close the Listeners first and
// the library's server after them.
type Listeners struct {
	allowed     *Allowed
	all         []net.Listener
	connections connections
	starved     chan error
}

// Listen opens the ports of setup.listen and setup.listeners; those after a
// given port follow it. The error is of kind setup and names the address.
func Listen(setup contract.Setup) (*Listeners, error) {
	allowed, err := AllowedOf(setup)
	if err != nil {
		return nil, err
	}
	addresses, err := ListenAddresses(setup)
	if err != nil {
		return nil, err
	}
	l := &Listeners{allowed: allowed, starved: make(chan error, 1)}
	config := net.ListenConfig{Control: BuffersOf(setup).control}
	for _, address := range addresses {
		inner, err := config.Listen(context.Background(), "tcp", address)
		if err != nil {
			l.Close()
			return nil, ListenFailure(address, err)
		}
		l.all = append(l.all, &listener{inner.(*net.TCPListener), l})
	}
	return l, nil
}

// ListenAddresses returns the addresses that a server shall listen on; those after
// a given port follow it. The error is of kind setup.
func ListenAddresses(setup contract.Setup) ([]string, error) {
	host, port, err := splitListen(setup.Listen)
	if err != nil {
		return nil, load.Failure(contract.SetupFailed, fmt.Errorf("setup.listen: %w", err))
	}
	addresses := make([]string, max(1, setup.Listeners))
	for i := range addresses {
		addresses[i] = net.JoinHostPort(host, "0")
		if port != 0 {
			addresses[i] = net.JoinHostPort(host, strconv.Itoa(port+i))
		}
	}
	return addresses, nil
}

func splitListen(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err != nil {
		return "", 0, err
	}
	number, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		return "", 0, fmt.Errorf("port is %q, expected 0 to 65535", text)
	}
	return host, int(number), nil
}

// All returns the listeners, in the order of their ports. Their connections embed
// *net.TCPConn and have its methods (ReadFrom, CloseWrite, SyscallConn), which some
// libraries look for.
func (l *Listeners) All() []net.Listener { return l.all }

// Addresses returns what ready says of them: host:port of each.
func (l *Listeners) Addresses() []string {
	addresses := make([]string, len(l.all))
	for i, one := range l.all {
		addresses[i] = one.Addr().(*net.TCPAddr).AddrPort().String()
	}
	return addresses
}

// Exited delivers an error, once, when a connection could not be accepted because
// file descriptors ran out: its client would wait for ever. Servers return it as
// load.Exiter does.
func (l *Listeners) Exited() <-chan error { return l.starved }

// starve reports that a connection is not accepted.
func (l *Listeners) starve(err error) {
	err = fmt.Errorf("accept connection %d: %w: too few file descriptors, every connection needs one; raise `ulimit -n`", l.Open()+1, err)
	select {
	case l.starved <- load.Failure(contract.SetupFailed, err):
	default: // it was reported before
	}
}

// Strangers returns the connections from other addresses; nil for none.
func (l *Listeners) Strangers() *contract.Strangers { return l.allowed.Strangers() }

// Open returns the number of connections that are open.
func (l *Listeners) Open() int64 { return l.connections.Open() }

// Close closes the ports and every open connection.
func (l *Listeners) Close() {
	for _, one := range l.all {
		_ = one.Close() // ends its Accept; a second close says only that it was the second
	}
	l.connections.close()
}

// listener is one port.
type listener struct {
	*net.TCPListener
	of *Listeners
}

// Accept returns the next connection from an allowed address. It closes those from
// other addresses at once.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.AcceptTCP()
		if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
			l.of.starve(err)
		}
		if err != nil {
			return nil, err // libraries look for net.ErrClosed and for temporary errors
		}
		if !l.of.allowed.Accepts(inner.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()) {
			_ = inner.Close() // nothing was sent on it
			continue
		}
		if c, ok := l.of.connections.enter(inner); ok {
			return c, nil
		}
	}
}
