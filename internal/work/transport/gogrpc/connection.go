package gogrpc

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/backoff"
	"google.golang.org/grpc/connectivity"
)

// verifyTimeout bounds the verified exchange of one connection, its making
// included.
const verifyTimeout = 30 * time.Second

// recovery bounds how long a slot waits for a connection that was lost.
const recovery = time.Second

// connection is one ClientConn over one TCP connection.
type connection struct {
	*grpc.ClientConn
	refused atomic.Pointer[error] // what Dial said, which the library wraps into a status without kind
	heads   heads
}

// openConnection makes connection i. It connects with the first RPC, and again
// when the server has left the connection (GOAWAY) or broken it; the dialer counts that.
func (c *client) openConnection(i int) (*connection, error) {
	conn := &connection{}
	own := []grpc.DialOption{
		grpc.WithTransportCredentials(watching{c.secure, &conn.heads, c.load}),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			tcp, err := c.dialer.Dial(ctx, i)
			if err != nil {
				conn.refused.CompareAndSwap(nil, &err)
			}
			return tcp, err
		}),
		grpc.WithIdleTimeout(0), // a connection without load must stay open
		grpc.WithDisableServiceConfig(),
		grpc.WithConnectParams(grpc.ConnectParams{
			Backoff:           backoff.Config{BaseDelay: 10 * time.Millisecond, Multiplier: 1.6, Jitter: 0.2, MaxDelay: recovery},
			MinConnectTimeout: verifyTimeout,
		}),
	}
	// passthrough hands the address to the dialer as it is.
	cc, err := grpc.NewClient("passthrough:///"+c.dialer.Routes()[i].Peer.Host(), append(own, c.dial...)...)
	if err != nil {
		return nil, err
	}
	conn.ClientConn = cc
	return conn, nil
}

// recover waits while the library does: RPCs that fail at once, until it tries to
// connect again, would be a load of nothing.
func (c *connection) recover(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, recovery)
	defer cancel()
	for c.GetState() == connectivity.TransientFailure && c.WaitForStateChange(ctx, connectivity.TransientFailure) {
	}
}
