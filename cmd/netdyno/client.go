package main

import (
	"context"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/session"
	"netdyno/internal/run/target"
)

// findClient asks a server, and where a client was chosen for it lets that client try
// it: what it refuses (a cipher, a header, a way to frame a reply) a client on a
// library of Go's asks, which is said.
func findClient(ctx context.Context, workers *session.Workers, asked target.Target) (found target.Found, by record.Asked, instead string, err error) {
	found, err = target.Ask(ctx, asked)
	by.Probe = found.Asked
	chosen := found.Levels["client"]
	if err != nil || !session.OnRings(chosen) {
		return found, by, "", err
	}
	why := session.TryClient(ctx, workers, armOf(found), &by)
	if why == nil {
		return found, by, "", nil
	}
	if ctx.Err() != nil {
		return found, by, "", context.Cause(ctx)
	}
	asked.Client = nil
	found, err = target.Ask(ctx, asked)
	by.Probe += found.Asked
	return found, by, chosen + " cannot ask it (" + quantity.Clip(why.Error(), 200) + "), so " + found.Levels["client"] + " does", err
}
