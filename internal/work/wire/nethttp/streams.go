package nethttp

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// CheckStreams makes sure, on one connection to each server, that an HTTP/2
// connection carries as many streams as will be in flight. When all of them are
// in use, an http.Transport dials another connection, which would end the trial
// in the middle. (With StrictMaxConcurrentRequests the pool of Go 1.26 waits for
// ever, because the waiting requests count as streams in use.)
//
// exchange makes one exchange on a connection; its requests have to carry ctx.
// instead is further advice for the error, which is of kind setup. One exchange in
// flight on a connection, and fresh connections, need no check.
func CheckStreams(setup contract.Setup, instead string, exchange func(ctx context.Context, connection int) error) error {
	inFlight := setup.Load.InFlight
	if inFlight < 2 || setup.Load.Fresh {
		return nil
	}
	// A stream is in use a little longer than its exchange: net/http frees it in
	// the background, and the slot's next exchange may have begun by then.
	streams := 2 * inFlight
	for i := range min(len(setup.Peers), setup.Load.Connections) {
		group, ctx := errgroup.WithContext(context.Background())
		ctx = together(ctx, streams)
		for range streams {
			group.Go(func() error { return exchange(ctx, i) })
		}
		if err := group.Wait(); err != nil {
			return load.Failure(contract.SetupFailed, fmt.Errorf(
				"load.in_flight is %d, and a connection to %s does not carry the %d streams at once that an http.Transport needs for them; "+
					"raise the server's limit (opt.server.max_streams), or use more connections%s: %w", inFlight, setup.Peers[i], streams, instead, err))
		}
	}
	return nil
}
