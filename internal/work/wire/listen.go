package wire

import (
	"fmt"
	"net"
	"strconv"
	"sync"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Listeners are a server's listening ports: they let in only the addresses of
// setup.allow and know the connections that are open. Any goroutine may use
// them. A library serves each of All; to end, close the Listeners first and the
// library's server after.
type Listeners struct {
	allowed Allowed
	all     []net.Listener

	mu     sync.Mutex
	open   map[*accepted]struct{}
	closed bool
}

// Listen opens the ports of setup.listen and setup.listeners; those after a
// given port follow it. The error is of kind setup and names the address.
func Listen(setup contract.Setup) (*Listeners, error) {
	allowed, err := AllowedOf(setup)
	if err != nil {
		return nil, err
	}
	host, port, err := splitListen(setup.Listen)
	if err != nil {
		return nil, err
	}
	l := &Listeners{allowed: allowed, open: map[*accepted]struct{}{}}
	for i := range max(1, setup.Listeners) {
		address := net.JoinHostPort(host, "0")
		if port != 0 {
			address = net.JoinHostPort(host, strconv.Itoa(port+i))
		}
		inner, err := net.Listen("tcp", address)
		if err != nil {
			l.Close()
			return nil, ListenFailure(address, err)
		}
		l.all = append(l.all, &listener{inner.(*net.TCPListener), l})
	}
	return l, nil
}

func splitListen(address string) (host string, port int, err error) {
	host, text, err := net.SplitHostPort(address)
	if err == nil {
		port, err = strconv.Atoi(text)
	}
	if err == nil && (port < 0 || port > 65535) {
		err = fmt.Errorf("port is %d, expected 0 to 65535", port)
	}
	if err != nil {
		return "", 0, load.Failure(contract.SetupFailed, fmt.Errorf("setup.listen: %w", err))
	}
	return host, port, nil
}

// All returns the listeners, in the order of their ports. Their connections are
// *net.TCPConn but for Close, so what libraries ask of one (ReadFrom,
// CloseWrite, SyscallConn) is there.
func (l *Listeners) All() []net.Listener { return l.all }

// Addresses returns what ready says of them: host:port of each.
func (l *Listeners) Addresses() []string {
	addresses := make([]string, len(l.all))
	for i, one := range l.all {
		addresses[i] = one.Addr().(*net.TCPAddr).AddrPort().String()
	}
	return addresses
}

// Open returns the number of connections that are open.
func (l *Listeners) Open() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return int64(len(l.open))
}

// Close closes the ports and every open connection.
func (l *Listeners) Close() {
	for _, one := range l.all {
		_ = one.Close() // ends its Accept; a second close says only that it was the second
	}
	l.mu.Lock()
	l.closed = true
	open := make([]*accepted, 0, len(l.open))
	for c := range l.open {
		open = append(open, c)
	}
	l.mu.Unlock()
	for _, c := range open {
		_ = c.Close() // whoever reads it hears of it
	}
}

// enter takes in a connection and reports whether it may stay.
func (l *Listeners) enter(c *accepted) bool {
	if !l.allowed.Accepts(c.RemoteAddr().(*net.TCPAddr).AddrPort().Addr()) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.open[c] = struct{}{}
	return true
}

func (l *Listeners) leave(c *accepted) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.open, c)
}

// listener is one port.
type listener struct {
	*net.TCPListener
	of *Listeners
}

// Accept returns the next connection from an allowed address; it closes
// strangers without a word.
func (l *listener) Accept() (net.Conn, error) {
	for {
		inner, err := l.AcceptTCP()
		if err != nil {
			return nil, err // libraries look for net.ErrClosed and for temporary errors
		}
		c := &accepted{TCPConn: inner, of: l.of}
		if l.of.enter(c) {
			return c, nil
		}
		_ = inner.Close() // a stranger: nothing to tell it
	}
}

// accepted is a connection that is counted until it is closed.
type accepted struct {
	*net.TCPConn
	of *Listeners
}

// Close implements net.Conn.
func (c *accepted) Close() error {
	c.of.leave(c)
	return c.TCPConn.Close()
}

