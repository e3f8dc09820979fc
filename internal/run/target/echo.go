package target

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net/url"
	"time"
)

// echoed is how many random bytes an echo server is asked to send back.
const echoed = 100

// askEcho asks a server that sends back what it receives.
func askEcho(ctx context.Context, t Target, u *url.URL) (Found, error) {
	ctx, cancel := context.WithTimeout(ctx, deadline)
	defer cancel()
	dialer := t.dialer(t.address(u))
	conn, err := dialer.DialContext(ctx, "tcp", t.address(u))
	if err != nil {
		return Found{}, err
	}
	defer func() { _ = conn.Close() }() // nothing is left to be sent
	if until, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(until.Add(-100 * time.Millisecond)) // before the context's own
	}
	sent, back := make([]byte, echoed), make([]byte, echoed)
	_, _ = rand.Read(sent) // it never fails
	if _, err := conn.Write(sent); err != nil {
		return Found{}, err
	}
	t.asked.Add(1)
	n, err := io.ReadFull(conn, back)
	if err != nil || !bytes.Equal(sent, back) {
		return Found{}, fmt.Errorf("%s is no echo server: of %d bytes it sent back %d, not the same; for HTTP write http://%s/", address(u), echoed, n, address(u))
	}
	return Found{
		Name: u.Host, At: reached(conn.RemoteAddr()),
		Words: fmt.Sprintf("echoes %d bytes", echoed),
		Levels: map[string]string{
			"server": "address", "client": "go-epoll", "opt.server.address": t.address(u), "opt.server.wire": "echo",
			"request": size(echoed), "response": size(echoed),
		},
	}, nil
}
