package nethttp

import (
	"context"
	"net/http/httptrace"
	"sync/atomic"
)

// together returns a context for n requests. Each request waits, between getting
// its connection and being sent, until all n have come. Then none of them uses
// a connection or a stream that another has finished with. The waiting ends
// early when ctx ends, because a request may have failed.
func together(ctx context.Context, n int) context.Context {
	var missing atomic.Int64
	missing.Store(int64(n))
	all := make(chan struct{})
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		if missing.Add(-1) == 0 {
			close(all)
		}
		select {
		case <-all:
		case <-ctx.Done():
		}
	}})
}
