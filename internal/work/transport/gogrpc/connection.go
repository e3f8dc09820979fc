package gogrpc

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"syscall"
	"time"

	"google.golang.org/grpc"

	"netdyno/internal/work/wire"
)

// patience bounds connecting and the verified exchange of one connection.
const patience = 30 * time.Second

// connection is one ClientConn over one TCP connection.
type connection struct {
	*grpc.ClientConn
	route   wire.Route
	dials   atomic.Int64
	refused atomic.Pointer[error] // of the dial
}

// open makes a connection; it dials with the first RPC.
func open(r wire.Route, options []grpc.DialOption) (*connection, error) {
	c := &connection{route: r}
	// passthrough hands the address to the dialer as it is. A connection that
	// carries no load must not fall asleep, which the library lets it do.
	own := []grpc.DialOption{grpc.WithContextDialer(c.dial), grpc.WithIdleTimeout(0), grpc.WithDisableServiceConfig()}
	cc, err := grpc.NewClient("passthrough:///"+r.Peer.String(), append(own, options...)...)
	if err != nil {
		return nil, err
	}
	c.ClientConn = cc
	return c, nil
}

// dial connects once. The library would connect again in silence after a loss,
// and the trial would count another connection's exchanges.
func (c *connection) dial(ctx context.Context, address string) (net.Conn, error) {
	if c.dials.Add(1) > 1 {
		return nil, errors.New("the connection was lost; a trial does not reconnect")
	}
	dialer := net.Dialer{}
	if c.route.Source.IsValid() {
		dialer.LocalAddr = &net.TCPAddr{IP: c.route.Source.AsSlice()}
		dialer.ControlContext = bindLate
	}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		c.refused.Store(&err)
		return nil, err
	}
	return conn, nil
}

// bindLate lets the kernel choose the local port at connect, where it knows
// the peer and may reuse a port that is busy towards another.
func bindLate(_ context.Context, _, _ string, raw syscall.RawConn) error {
	const bindAddressNoPort = 24 // IP_BIND_ADDRESS_NO_PORT, linux/in.h
	var failed error
	err := raw.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_IP, bindAddressNoPort, 1)
	})
	return errors.Join(err, failed)
}
