package session

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/rig/arrange"
	"netdyno/internal/run/study"
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
		mine = []string{"exchanges_per_s"}
	}
	s.Compare.Primary = mine
}

// withServer completes the arguments of a study that names only its client, for a
// server that stands elsewhere: the server is then named like the client.
func withServer(args []string, choice arrange.Choice) []string {
	if !choice.External() {
		return args
	}
	client := ""
	for _, a := range args {
		key, level, _ := strings.Cut(a, "=")
		switch key {
		case "client":
			client = level
		case "server", "transport", "arm":
			return args
		}
		if !strings.Contains(a, "=") {
			return args
		}
	}
	if first, _, _ := strings.Cut(client, ","); first != "" {
		return append(args[:len(args):len(args)], "server="+first)
	}
	return args
}
