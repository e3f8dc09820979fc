package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/run/study"
)

// Carriers returns the programs of a trial's ends, as far as they are here.
func (c *Catalog) Carriers(w study.Work) []Program {
	var all []Program
	for _, transport := range []string{w.Server, w.Client} {
		offer, err := c.catalogFor(w).Offer(transport, w.Exchange.Codec)
		if err == nil && !slices.ContainsFunc(all, func(p Program) bool { return p.Path == offer.Program.Path }) {
			all = append(all, *offer.Program)
		}
	}
	return all
}

// Message puts executables that were built for a level of factor message in
// the place of those that they were built from, by these's paths, for trials
// of that level alone. The error is about one that is not what it was built
// from, with other code for the message.
func (c *Catalog) Message(ctx context.Context, level string, built map[string]string) error {
	own := &Catalog{Absent: c.Absent}
	for _, p := range c.Programs {
		if path := built[p.Path]; path != "" {
			again, err := introduce(ctx, path)
			if err != nil {
				return fmt.Errorf("%s, built for message %s: %w", filepath.Base(path), level, err)
			}
			if !sameOffers(p.Hello, again.Hello) {
				return fmt.Errorf("%s, built for message %s, has other transports than the worker that it was built from", filepath.Base(path), level)
			}
			again.Message = level
			p = again
		}
		own.Programs = append(own.Programs, p)
	}
	if c.Messages == nil {
		c.Messages = map[string]*Catalog{}
	}
	c.Messages[level] = own
	for _, build := range c.Builds {
		if err := build.Message(ctx, level, built); err != nil {
			return err
		}
	}
	return nil
}

func sameOffers(a, b contract.Hello) bool {
	return slices.EqualFunc(a.Transports, b.Transports, func(x, y contract.Transport) bool {
		return x.Name == y.Name && x.Wire == y.Wire && slices.Equal(x.Codecs, y.Codecs)
	})
}
