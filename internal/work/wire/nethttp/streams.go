package nethttp

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// checkStreams makes sure, on one connection to each server, that an HTTP/2
// connection carries as many streams as will be in flight. When all of them are in
// use, the pool of an http.Transport dials another connection, which would end the
// trial in the middle.
func (c *Client) checkStreams() error {
	inFlight := c.setup.Load.InFlight
	if inFlight < 2 || c.plan.OneAtATime || c.plan.Pool != PoolOwn || c.setup.Load.Fresh {
		return nil
	}
	// A stream is in use a little longer than its exchange: net/http lets go of
	// it in the background, and the slot's next one may have begun.
	streams := 2 * inFlight
	for i := range min(len(c.setup.Peers), len(c.urls)) {
		group, ctx := errgroup.WithContext(context.Background())
		together := newGate(ctx, streams)
		for range streams {
			group.Go(func() error {
				one := c.call(i)
				one.gate = together
				_, err := one.do()
				return err
			})
		}
		if err := group.Wait(); err != nil {
			return load.Failure(contract.SetupFailed, fmt.Errorf(
				"load.in_flight is %d, and a connection to %s does not carry the %d streams at once that an http.Transport needs for them; "+
					"raise the server's limit (opt.server.max_streams), use more connections, or do without the pool (opt.pool=%s): %w",
				inFlight, c.setup.Peers[i], streams, PoolNone, err))
		}
	}
	return nil
}
