package goconnect

import (
	"context"
	"fmt"
	"net/http/httptrace"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// checkStreams makes sure, on one connection to each server, that an HTTP/2
// connection carries as many streams as will be in flight. When all of them are in
// use, an http.Transport dials another connection, which would end the trial in
// the middle. (Told to wait for a stream instead, by
// StrictMaxConcurrentRequests, Go 1.26 waits for ever: the waiting requests
// count as streams in use.)
func (c *client) checkStreams() error {
	inFlight := c.Load().Plan().InFlight
	if inFlight < 2 || c.setup.Load.Fresh {
		return nil
	}
	// A stream is in use a little longer than its exchange: net/http lets go of
	// it in the background, and the slot's next one may have begun.
	streams := 2 * inFlight
	for i := range min(len(c.setup.Peers), len(c.lines)) {
		group, ctx := errgroup.WithContext(context.Background())
		together := assembled(ctx, streams)
		for range streams {
			group.Go(func() error {
				_, err := c.exchange(i)(together, c.content.Accept)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return load.Failure(contract.SetupFailed, fmt.Errorf(
				"load.in_flight is %d, and a connection to %s does not carry the %d streams at once that an http.Transport needs for them; "+
					"raise the server's limit (opt.server.max_streams) or use more connections: %w", inFlight, c.setup.Peers[i], streams, err))
		}
	}
	return nil
}

// assembled makes a context whose requests wait, each between getting a
// connection and being sent, until n have come or ctx ends.
func assembled(ctx context.Context, n int) context.Context {
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
