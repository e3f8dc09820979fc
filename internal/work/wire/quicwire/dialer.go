package quicwire

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"

	"netdyno/internal/contract"
	"netdyno/internal/quicsocket"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

// dialTimeout bounds the making of one connection unless setup.load.connect_ns does.
// quic-go gives up earlier, after 5 s without an answer.
const dialTimeout = 10 * time.Second

// creditTimeout bounds the wait for a server to say that streams that have ended may
// be opened anew.
const creditTimeout = 2 * time.Second

// Dialer makes a client's QUIC connections, each over a UDP socket of its own, so
// that a connection is told from the others by its addresses and ports. Each route
// is dialled once, unless setup.load.fresh says once per exchange or the library may
// reconnect (AllowReconnects). Any goroutine may use it.
type Dialer struct {
	// Effective holds what ready reports of the options; it is complete once a
	// connection is open.
	Effective map[string]any

	setup   contract.Setup
	routes  []wire.Route
	trusted *tls.Config
	config  *quic.Config
	used    []atomic.Bool
	load    *load.Load // told how long handshakes took; nil for nobody

	mayReconnect bool
	made         []atomic.Bool // by route: the last attempt to make it succeeded
	reconnects   atomic.Int64

	mu     sync.Mutex
	open   map[*quic.Conn]struct{}
	lines  [][]*quic.Conn // by route, those that were open when the last was made
	closed bool
	told   bool // Effective holds what the kernel granted
}

// NewDialer plans the connections of setup; protocol is what both ends agree on by
// ALPN, and trust whom the client believes: tlswire.ClientConfig or tlswire.TrustingConfig. An
// error is of kind setup, or unsupported where setup.tls is absent.
func NewDialer(setup contract.Setup, protocol string, trust func(contract.Setup) (*tls.Config, error)) (*Dialer, error) {
	if err := encrypted(setup); err != nil {
		return nil, err
	}
	routes, err := wire.Routes(setup)
	if err != nil {
		return nil, err
	}
	d := &Dialer{Effective: map[string]any{}, setup: setup, routes: routes, used: make([]atomic.Bool, len(routes)), made: make([]atomic.Bool, len(routes)), lines: make([][]*quic.Conn, len(routes)), open: map[*quic.Conn]struct{}{}}
	if d.config, err = configure(setup, d.Effective); err != nil {
		return nil, err
	}
	if d.trusted, err = trust(setup); err != nil {
		return nil, err
	}
	d.trusted.MinVersion, d.trusted.NextProtos = tls.VersionTLS13, []string{protocol}
	return d, nil
}

// Tell makes the dialler say to a load how long handshakes took. Call it before the first Dial.
func (d *Dialer) Tell(l *load.Load) { d.load = l }

// Routes returns the route of every connection, not to be changed.
func (d *Dialer) Routes() []wire.Route { return d.routes }

// Window returns how many bytes a server may always send on one of the connections
// before anything of it is read.
func (d *Dialer) Window() int64 {
	return int64(min(d.config.InitialStreamReceiveWindow, d.config.InitialConnectionReceiveWindow))
}

// AllowReconnects lets a connection be made again that its server has left (RFC 9114,
// section 5.2) or closed. Call it before the first Dial.
func (d *Dialer) AllowReconnects() { d.mayReconnect = true }

// Made tells whether the last attempt to make connection i succeeded and it may be made
// again.
func (d *Dialer) Made(i int) bool { return d.mayReconnect && d.made[i].Load() }

// Reconnects returns how many connections were made again.
func (d *Dialer) Reconnects() int64 { return d.reconnects.Load() }

// Dial makes connection i. It returns wire.ErrLost when it was made before and may not
// be made again.
func (d *Dialer) Dial(ctx context.Context, i int) (*quic.Conn, error) {
	again := d.used[i].Swap(true) && !d.setup.Load.Fresh
	if again && !d.mayReconnect {
		return nil, wire.ErrLost
	}
	conn, err := d.dial(ctx, i)
	d.made[i].Store(err == nil)
	switch {
	case d.setup.Load.Fresh:
		return conn, err
	case err != nil && again: // the server is gone: however it does not answer, the connection is lost
		return nil, load.Failure(contract.Peer, fmt.Errorf("the server ended the connection, and another cannot be made: %s", load.TextOf(err)))
	case err != nil:
		return nil, err
	case again:
		d.reconnects.Add(1)
	}
	d.replace(i, conn)
	return conn, nil
}

// mostBefore is how many connections of a route may finish what they carry after
// another has taken their place.
const mostBefore = 8

// replace makes a connection that of route i, and ends the oldest of those before it
// where a server keeps too many open.
func (d *Dialer) replace(i int, conn *quic.Conn) {
	d.mu.Lock()
	d.lines[i] = append(slices.DeleteFunc(d.lines[i], func(c *quic.Conn) bool { return c.Context().Err() != nil }), conn)
	var oldest *quic.Conn
	if len(d.lines[i]) > mostBefore+1 {
		oldest, d.lines[i] = d.lines[i][0], d.lines[i][1:]
	}
	d.mu.Unlock()
	if oldest != nil {
		_ = oldest.CloseWithError(0, "")
	}
}

func (d *Dialer) dial(ctx context.Context, i int) (*quic.Conn, error) {
	socket, err := d.socket(ctx, d.routes[i])
	if err != nil {
		return nil, Explain(i, d.routes, err)
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(time.Duration(d.setup.Load.ConnectNs), dialTimeout))
	defer cancel()
	begun := load.Now()
	conn, err := quic.Dial(ctx, quicsocket.Connected{UDPConn: socket}, socket.RemoteAddr(), d.trusted, d.config)
	if err == nil {
		if d.load != nil {
			d.load.Secured(load.Now()-begun, conn.ConnectionState().TLS.DidResume)
		}
		err = d.settle(socket)
	}
	if err != nil {
		if conn != nil {
			_ = conn.CloseWithError(0, "")
		}
		_ = socket.Close() // the first failure is the one to report
		return nil, Explain(i, d.routes, err)
	}
	return conn, d.enter(conn, socket)
}

// socket opens the UDP socket of a route.
func (d *Dialer) socket(ctx context.Context, route wire.Route) (*net.UDPConn, error) {
	dialer := net.Dialer{}
	if route.Source.IsValid() {
		dialer.LocalAddr, dialer.Control = &net.UDPAddr{IP: route.Source.AsSlice()}, bindLate
	}
	conn, err := dialer.DialContext(ctx, "udp", route.Peer.String())
	if err != nil {
		return nil, err
	}
	socket := conn.(*net.UDPConn)
	if err := wideEnough(socket, route.Peer.Addr()); err != nil {
		_ = socket.Close() // nothing was sent on it
		return nil, err
	}
	return socket, nil
}

// settle gives a socket its buffers and reports the first one's.
func (d *Dialer) settle(socket *net.UDPConn) error {
	if err := tune(socket, wire.BuffersOf(d.setup)); err != nil {
		return load.Failure(contract.SetupFailed, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.told {
		return nil
	}
	d.told = true
	return report(socket, d.Effective, d.setup.Options)
}

// enter keeps a connection until it ends, and closes its socket then.
func (d *Dialer) enter(conn *quic.Conn, socket *net.UDPConn) error {
	context.AfterFunc(conn.Context(), func() {
		d.mu.Lock()
		delete(d.open, conn)
		d.mu.Unlock()
		_ = socket.Close() // what quic-go had to say was sent before
	})
	d.mu.Lock()
	closed := d.closed
	if !closed {
		d.open[conn] = struct{}{}
	}
	d.mu.Unlock()
	if closed {
		_ = conn.CloseWithError(0, "")
		return net.ErrClosed
	}
	return nil
}

// Close closes every connection, and those that are still being made.
func (d *Dialer) Close() {
	d.mu.Lock()
	d.closed = true
	open := make([]*quic.Conn, 0, len(d.open))
	for conn := range d.open {
		open = append(open, conn)
	}
	d.mu.Unlock()
	_ = wire.Each(len(open), func(i int) error { return open[i].CloseWithError(0, "") })
}

// CheckStreams makes sure that a connection to the server of connection i carries
// as many streams at once as exchanges are in flight: those beyond would wait at
// the client. The error is of kind setup.
func (d *Dialer) CheckStreams(conn *quic.Conn, i int) error {
	ctx, cancel := context.WithTimeout(context.Background(), creditTimeout)
	defer cancel()
	var opened []*quic.Stream
	defer func() {
		for _, s := range opened {
			s.CancelRead(0)
			s.CancelWrite(0)
		}
	}()
	for range d.setup.Load.InFlight {
		s, err := conn.OpenStreamSync(ctx)
		if err != nil {
			return d.TooFewStreams(i, len(opened), err)
		}
		opened = append(opened, s)
	}
	return nil
}

// TooFewStreams returns the error of kind setup for a server that lets connection i
// open only so many streams.
func (d *Dialer) TooFewStreams(i, opened int, err error) error {
	return load.Failure(contract.SetupFailed, fmt.Errorf(
		"load.in_flight is %d, and the server at %s lets a connection have %d streams at once; "+
			"raise its limit (opt.server.%s), or use more connections: %w", d.setup.Load.InFlight, d.routes[i].Peer, opened, maxStreams, err))
}

// Explain returns why connection i could not be made, with advice and the
// contract's kind: a server that says nothing over UDP looks like one that is not
// there.
func Explain(i int, routes []wire.Route, err error) error {
	var known *contract.Error
	if errors.As(err, &known) {
		return err
	}
	fail := func(kind contract.ErrorKind, hint string) error {
		return load.Failure(kind, fmt.Errorf("connect %d of %d to %s over UDP: %w: %s", i+1, len(routes), routes[i].Peer, err, hint))
	}
	var (
		handshake *quic.HandshakeTimeoutError
		idle      *quic.IdleTimeoutError
		refused   *quic.TransportError
		versions  *quic.VersionNegotiationError
	)
	switch {
	case errors.As(err, &handshake), errors.As(err, &idle):
		return fail(contract.Timeout, "no datagram came back; nothing speaks QUIC there, or something on the way drops UDP")
	case errors.Is(err, syscall.EMSGSIZE):
		return fail(contract.SetupFailed, "the path takes no datagram of 1,200 bytes, and QUIC needs that (RFC 9000, section 14)")
	case errors.As(err, &versions):
		return fail(contract.Peer, "the two ends share no version of QUIC")
	case errors.As(err, &refused) && refused.ErrorCode == quic.ConnectionRefused:
		return fail(contract.Peer, "the server does not let this client in, or has too many connections waiting")
	}
	return wire.ConnectFailure(i, len(routes), routes[i], err)
}
