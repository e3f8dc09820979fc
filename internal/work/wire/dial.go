package wire

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
	"netdyno/internal/unixsocket"
	"netdyno/internal/work/load"
)

// dialTimeout bounds the making of one connection where setup.load.connect_ns does not.
const dialTimeout = 10 * time.Second

// ErrLost says that a connection broke. A client does not make another in its
// place (CONTRACT.md, section error).
var ErrLost = errors.New("the connection was lost, and a client does not reconnect")

// ErrNoReply says that a connection ended before anything came of a reply, where a
// library knows it: over TLS the end itself comes as bytes.
var ErrNoReply = errors.New("connection closed before the reply")

// Dialer makes a client's connections, of TCP or through a Unix socket, also for a library that dials by itself.
// It makes sure that a connection of the trial is one TCP connection: each route is
// dialled once, unless setup.load.fresh says once per exchange or the library may
// reconnect (AllowReconnects). Any goroutine may use it.
type Dialer struct {
	routes       []Route
	buffers      Buffers
	ports        ports
	fresh        bool
	within       time.Duration // bounds the making of one connection
	mayReconnect bool
	used         []atomic.Bool // by route
	lines        []line        // by route, when it may reconnect
	dialled      atomic.Int64
	reconnects   atomic.Int64
	permits      chan struct{}
	connections  connections
	load         *load.Load // told how long connecting took; nil for nobody

	mu     sync.Mutex // of the queues
	toPeer map[Peer]*queue
}

// queue holds the routes to one peer, in the order in which Any takes them. A library's
// pool that drops a connection between two exchanges gives its route back.
type queue struct {
	routes []int
	next   int
	back   []int // routes given back
	lost   bool  // a connection broke
}

// NewDialer plans the connections of setup. The error is of kind setup.
func NewDialer(setup contract.Setup) (*Dialer, error) {
	routes, err := routes(setup, parseStream)
	if err != nil {
		return nil, err
	}
	d := &Dialer{
		routes: routes, buffers: BuffersOf(setup), fresh: setup.Load.Fresh, within: cmp.Or(time.Duration(setup.Load.ConnectNs), dialTimeout), used: make([]atomic.Bool, len(routes)),
		permits: make(chan struct{}, connecting), toPeer: map[Peer]*queue{},
	}
	for i, r := range routes {
		if d.toPeer[r.Peer] == nil {
			d.toPeer[r.Peer] = &queue{}
		}
		q := d.toPeer[r.Peer]
		q.routes = append(q.routes, i)
	}
	if !d.fresh && routes[0].Peer.Socket == "" {
		d.ports = newPorts(len(routes) / d.ways())
	}
	return d, nil
}

// ways is how many pairs of a source and a peer the routes take in turn.
func (d *Dialer) ways() int {
	ways := map[Route]struct{}{}
	for _, r := range d.routes {
		ways[r] = struct{}{}
	}
	return max(1, len(ways))
}

// Tell makes the dialler say to a load how long connecting took. Call it before the first Dial.
func (d *Dialer) Tell(l *load.Load) { d.load = l }

// Routes returns the route of every connection, not to be changed.
func (d *Dialer) Routes() []Route { return d.routes }

// OneEach returns an error of kind bug unless every route has taken one TCP
// connection so far, reconnects apart: a library may have made others beside them.
func (d *Dialer) OneEach() error {
	if made := d.dialled.Load() - d.reconnects.Load(); made != int64(len(d.routes)) {
		return load.Failure(contract.Bug, fmt.Errorf("%d connections took %d TCP connections, expected as many", len(d.routes), made))
	}
	return nil
}

// Dial makes connection i. The error is ErrLost when it was made before, else it
// comes from ConnectFailure.
func (d *Dialer) Dial(ctx context.Context, i int) (net.Conn, error) {
	if !d.mayDial(i) {
		return nil, ErrLost
	}
	d.permits <- struct{}{}
	defer func() { <-d.permits }()
	route, begun := d.routes[i], load.Now()
	inner, err := d.connect(ctx, route, func(raw syscall.RawConn) error { return d.ports.narrow(raw, i) })
	if errors.Is(err, syscall.EADDRNOTAVAIL) { // others took the connection's ports: any will do
		inner, err = d.connect(ctx, route, func(syscall.RawConn) error { return nil })
	}
	if err != nil {
		d.refused(i)
		return nil, ConnectFailure(i, len(d.routes), route, err)
	}
	if d.load != nil {
		d.load.Connected(load.Now() - begun)
	}
	c, ok := d.connections.enter(inner)
	if !ok {
		return nil, net.ErrClosed
	}
	d.dialled.Add(1)
	if d.mayReconnect {
		return d.track(i, c), nil
	}
	return c, nil
}

// connect dials a route. prepare is called with the socket before it connects.
func (d *Dialer) connect(ctx context.Context, route Route, prepare func(syscall.RawConn) error) (net.Conn, error) {
	dialer := net.Dialer{Timeout: d.within, Control: func(network, address string, raw syscall.RawConn) error {
		return errors.Join(d.buffers.control(network, address, raw), prepare(raw))
	}}
	if route.Source.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: route.Source.AsSlice()}
		buffered := dialer.Control
		dialer.Control = func(network, address string, raw syscall.RawConn) error {
			return errors.Join(buffered(network, address, raw), bindLate(raw))
		}
	}
	if route.Peer.Socket != "" {
		return unixsocket.Dial(ctx, dialer, route.Peer.Socket)
	}
	return dialer.DialContext(ctx, "tcp", route.Peer.String())
}

// Any makes one of the connections to a peer, for a library that pools connections
// and does not know which one it asks for. The error is as Dial's.
func (d *Dialer) Any(ctx context.Context, peer string) (net.Conn, error) {
	q, err := d.queueTo(peer)
	if err != nil {
		return nil, err
	}
	i, again, err := d.takeRoute(q)
	// net/http dials in the place of a connection before it closes that one.
	for until := time.Now().Add(time.Second); errors.Is(err, errAllOpen) && ctx.Err() == nil && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
		i, again, err = d.takeRoute(q)
	}
	if err != nil {
		return nil, ErrLost
	}
	c, err := d.Dial(ctx, i)
	switch {
	case err != nil:
		d.lose(q)
		return nil, err
	case d.fresh:
		return c, nil
	case again:
		d.reconnects.Add(1)
	}
	return &pooled{Conn: c, of: d, to: q, route: i}, nil
}

// queueTo returns the routes to a peer.
func (d *Dialer) queueTo(peer string) (*queue, error) {
	address := d.routes[0].Peer
	if address.Socket == "" { // else it is the only peer, which a library knows by another name
		at, err := netip.ParseAddrPort(peer)
		if err != nil {
			return nil, err
		}
		address = Peer{AddrPort: at}
	}
	if q := d.toPeer[address]; q != nil {
		return q, nil
	}
	return nil, ErrLost
}

var errAllOpen = errors.New("every connection is open")

// takeRoute returns the route of the next connection, and whether it was made before.
func (d *Dialer) takeRoute(q *queue) (i int, again bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case q.next < len(q.routes) || d.fresh:
		i = q.routes[q.next%len(q.routes)]
		q.next++
		return i, false, nil
	case len(q.back) > 0:
		i, q.back = q.back[0], q.back[1:]
		return i, true, nil
	case q.lost:
		return 0, false, ErrLost
	}
	return 0, false, errAllOpen
}

// Close closes every connection, and those that are still being made.
func (d *Dialer) Close() { d.connections.close() }

// Settle repeats an exchange until it finds the connection that an earlier exchange has
// made. An http.Transport hands a new HTTP/2 connection to the request that waited for
// it, and adds the connection to its pool later, on another goroutine; a request that
// comes in between dials again. The error is the last exchange's.
func Settle(exchange func() error) error {
	for until := time.Now().Add(dialTimeout); ; time.Sleep(time.Millisecond) {
		if err := exchange(); !errors.Is(err, ErrLost) || time.Now().After(until) {
			return err
		}
	}
}

// bindLate lets the kernel choose the local port at connect, where it knows
// the peer and may reuse a port that is busy towards another.
func bindLate(raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	})
	return errors.Join(err, failed)
}
