package nethttp

import (
	"context"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
)

// gate holds requests back, each on the connection that it was given, until as
// many as there are connections have come: then each has one of its own,
// though one http.Transport hands them out.
type gate struct {
	ctx     context.Context // ends the waiting when a connection cannot be had
	missing atomic.Int64
	open    chan struct{}
}

func newGate(ctx context.Context, requests int) *gate {
	g := &gate{ctx: ctx, open: make(chan struct{})}
	g.missing.Store(int64(requests))
	return g
}

// hold makes a request wait at the gate, between getting its connection and
// being sent.
func (g *gate) hold(r *http.Request) *http.Request {
	return r.WithContext(httptrace.WithClientTrace(g.ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) {
			if g.missing.Add(-1) == 0 {
				close(g.open)
			}
			select {
			case <-g.open:
			case <-g.ctx.Done():
			}
		},
	}))
}
