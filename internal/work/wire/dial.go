package wire

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"netdyno/internal/contract"
)

// Bounds on making connections.
const (
	dialing      = 128              // at once
	dialPatience = 10 * time.Second // for one
)

// ErrLost says that a connection broke: a client does not make another in its
// place (CONTRACT.md, section error).
var ErrLost = errors.New("the connection was lost, and a client does not reconnect")

// Dialer makes a client's TCP connections for a library that wants to do so by
// itself, and sees to it that a connection of the trial is one TCP connection:
// each route is dialled once, unless setup.load.fresh says once per exchange.
// Any goroutine may use it.
type Dialer struct {
	routes      []Route
	fresh       bool
	used        []atomic.Bool // by route
	dialled     atomic.Int64
	permits     chan struct{}
	connections connections

	mu     sync.Mutex
	toPeer map[netip.AddrPort]*queue
}

// queue holds the routes to one peer, in the order in which Any takes them.
type queue struct {
	routes []int
	next   int
}

// NewDialer plans the connections of setup. The error is of kind setup.
func NewDialer(setup contract.Setup) (*Dialer, error) {
	routes, err := Routes(setup)
	if err != nil {
		return nil, err
	}
	d := &Dialer{
		routes: routes, fresh: setup.Load.Fresh, used: make([]atomic.Bool, len(routes)),
		permits: make(chan struct{}, dialing), toPeer: map[netip.AddrPort]*queue{},
	}
	for i, r := range routes {
		if d.toPeer[r.Peer] == nil {
			d.toPeer[r.Peer] = &queue{}
		}
		q := d.toPeer[r.Peer]
		q.routes = append(q.routes, i)
	}
	return d, nil
}

// Routes returns the route of every connection, not to be changed.
func (d *Dialer) Routes() []Route { return d.routes }

// Dialled returns how many connections were made so far.
func (d *Dialer) Dialled() int64 { return d.dialled.Load() }

// Dial makes connection i. The error is ErrLost when it was made before, else
// what ConnectFailure makes of the reason.
func (d *Dialer) Dial(ctx context.Context, i int) (net.Conn, error) {
	if d.used[i].Swap(true) && !d.fresh {
		return nil, ErrLost
	}
	d.permits <- struct{}{}
	defer func() { <-d.permits }()
	route := d.routes[i]
	dialer := net.Dialer{Timeout: dialPatience}
	if route.Source.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: route.Source.AsSlice()}
		dialer.Control = bindLate
	}
	inner, err := dialer.DialContext(ctx, "tcp", route.Peer.String())
	if err != nil {
		return nil, ConnectFailure(i, len(d.routes), route, err)
	}
	c, ok := d.connections.enter(inner.(*net.TCPConn))
	if !ok {
		return nil, net.ErrClosed
	}
	d.dialled.Add(1)
	return c, nil
}

// Any makes one of the connections to a peer, for a pool that knows nothing of
// routes. The error is as Dial's.
func (d *Dialer) Any(ctx context.Context, peer string) (net.Conn, error) {
	i, err := d.take(peer)
	if err != nil {
		return nil, err
	}
	return d.Dial(ctx, i)
}

func (d *Dialer) take(peer string) (int, error) {
	address, err := netip.ParseAddrPort(peer)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.toPeer[address]
	if q == nil || q.next == len(q.routes) && !d.fresh {
		return 0, ErrLost
	}
	i := q.routes[q.next%len(q.routes)]
	q.next++
	return i, nil
}

// Close closes every connection, and those that are still being made.
func (d *Dialer) Close() { d.connections.close() }

// bindLate lets the kernel choose the local port at connect, where it knows
// the peer and may reuse a port that is busy towards another.
func bindLate(_, _ string, raw syscall.RawConn) error {
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = unix.SetsockoptInt(int(fd), unix.IPPROTO_IP, unix.IP_BIND_ADDRESS_NO_PORT, 1)
	})
	return errors.Join(err, failed)
}
