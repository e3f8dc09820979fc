package gogrpc

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"

	"netdyno/internal/work/wire"
)

// verifyTimeout bounds the verified exchange of one connection, its making
// included.
const verifyTimeout = 30 * time.Second

// connection is one ClientConn over one TCP connection.
type connection struct {
	*grpc.ClientConn
	refused atomic.Pointer[error] // what Dial said, which the library wraps into a status without kind
}

// open makes connection i of the dialer. It connects with the first RPC. When it
// is lost, the library would silently connect again and the trial would count the
// exchanges of another connection. The dialer refuses that.
func open(d *wire.Dialer, i int, options []grpc.DialOption) (*connection, error) {
	c := &connection{}
	own := []grpc.DialOption{
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			conn, err := d.Dial(ctx, i)
			if err != nil {
				c.refused.CompareAndSwap(nil, &err)
			}
			return conn, err
		}),
		grpc.WithIdleTimeout(0), // a connection without load must stay open
		grpc.WithDisableServiceConfig(),
	}
	// passthrough hands the address to the dialer as it is.
	cc, err := grpc.NewClient("passthrough:///"+d.Routes()[i].Peer.String(), append(own, options...)...)
	if err != nil {
		return nil, err
	}
	c.ClientConn = cc
	return c, nil
}
