package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// clientsOnly checks the trials of a rig whose server stands elsewhere: every arm
// drives that one server, whatever the study calls it.
type clientsOnly struct {
	catalog *bench.Catalog
	servers []string // what the study calls the server, by arm
	clients []string
}

// pairs reports why a trial's client cannot be had.
func (c *clientsOnly) pairs(w study.Work) error {
	_, err := c.catalog.Offer(w.Client, w.Exchange.Codec)
	return err
}

// takes reports what a trial asks that only its server could give it.
func (c *clientsOnly) takes(w study.Work) error {
	c.servers, c.clients = append(c.servers, w.Server), append(c.clients, w.Client)
	if w.Server != c.servers[0] {
		return fmt.Errorf("its server is %s and another arm's is %s, but one server stands there; vary client=%s,%s instead, or run each against its own",
			w.Server, c.servers[0], c.clients[0], w.Client)
	}
	_, err := c.catalog.ClientOnly(w)
	return err
}

// leaveServerOut removes the server's metrics from a study's primary ones. Nobody
// here meters the server of such a rig, so they could never be compared.
func leaveServerOut(s *study.Study) {
	mine := slices.DeleteFunc(slices.Clone(s.Compare.Primary), func(metric string) bool {
		return strings.HasPrefix(metric, string(contract.Server)+".") || strings.HasPrefix(metric, "host.")
	})
	if len(mine) == 0 {
		mine = []string{metric.ExchangesPerS}
	}
	s.Compare.Primary = mine
}

// nameServer completes the arguments of a study that names only its client, for a
// server that stands elsewhere: the server is then named like the client.
func nameServer(a *source.Arguments, option string) error {
	if a.Named() != "" || !a.Sets("client") || a.Sets("server") || a.Sets("transport") {
		return nil
	}
	return a.Set(option, "server", a.First("client"))
}

// holdLink adds what the rig says of its link.
func holdLink(a *source.Arguments, option string, choice arrange.Choice) error {
	levels := choice.Levels()
	for _, factor := range slices.Sorted(maps.Keys(levels)) {
		if err := a.Set(option, factor, levels[factor]); err != nil {
			return err
		}
	}
	return nil
}
