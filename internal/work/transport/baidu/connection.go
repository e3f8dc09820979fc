package baidu

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
	"netdyno/internal/work/wire/baidustd"
	"netdyno/internal/work/wire/tlswire"
)

// verifyTimeout bounds the verified exchange of one connection, and its TLS
// handshake.
const verifyTimeout = 30 * time.Second

// connection is one TCP connection of a client.
type connection struct {
	net.Conn
	frames *baidustd.Reader
	copied int // see outbox
	id     int64
}

// connector makes a client's connections. Any goroutine may use it.
type connector struct {
	setup   contract.Setup
	options load.Options // effective
	secure  *tls.Config  // nil for plain text
	dialer  *wire.Dialer
}

// openConnection makes connection i. The error has the contract's kind.
func (c *connector) openConnection(ctx context.Context, i int) (*connection, error) {
	conn, err := c.dialer.Dial(ctx, i)
	if err != nil {
		return nil, err
	}
	if c.secure != nil {
		config := c.secure.Clone()
		route := c.dialer.Routes()[i]
		config.ServerName = route.Peer.Addr().String()
		secured := tls.Client(conn, config)
		ctx, cancel := context.WithTimeout(ctx, verifyTimeout)
		defer cancel()
		if err := secured.HandshakeContext(ctx); err != nil {
			_ = conn.Close() // the handshake's error is the one to report
			return nil, wire.ConnectFailure(i, len(c.dialer.Routes()), route, fmt.Errorf("TLS handshake: %w", explained(c.setup, route, err)))
		}
		conn = secured
	}
	return &connection{
		Conn:   conn,
		frames: baidustd.NewReader(conn, int(c.options.Int("read_buffer")), c.options.Int("max_body")),
		copied: int(c.options.Int("write_buffer")),
	}, nil
}

// explained adds what TLS has to do with a failed connection. A server of
// baidu_std closes the connection when it meets a handshake, and says nothing.
func explained(setup contract.Setup, route wire.Route, err error) error {
	if setup.TLS != nil && (errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed)) {
		return fmt.Errorf("%w: the server hung up on it, as one does that speaks plain text; give setup.tls to both ends or to neither", err)
	}
	return tlswire.Explain(setup, route, err)
}

// failure gives an error of reading or writing frames the contract's kind:
// invalid for bytes that are no frame, else peer.
func failure(err error) error {
	kind := contract.Peer
	if errors.Is(err, baidustd.ErrMalformed) {
		kind = contract.Invalid
	}
	return load.Failure(kind, err)
}

// refused returns why a call failed at the server, by its reply; nil when it
// did not.
func refused(m baidustd.Meta) error {
	if m.ErrorCode == 0 {
		return nil
	}
	kind := contract.Invalid
	switch m.ErrorCode {
	case baidustd.TimedOut:
		kind = contract.Timeout
	case baidustd.LogOff, baidustd.LostSocket:
		kind = contract.Peer
	}
	label := baidustd.CodeName(m.ErrorCode)
	if label == "" {
		label = "error"
	}
	return load.Failure(kind, fmt.Errorf("the server refused: %s (%d): %s", label, m.ErrorCode, m.ErrorText))
}
