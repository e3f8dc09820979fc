package bench

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/run/spoken"
)

// misspokenTimeout bounds how long a server is asked what it speaks, after a trial has
// failed.
const misspokenTimeout = 10 * time.Second

// misspoken adds to a client's failure what a program of the user's speaks, where that
// is another wire than the study says. It asks from this host, so that it knows
// nothing of servers elsewhere.
func (t *trial) misspoken(ctx context.Context, peers []string, err error) error {
	var f *failure
	if !errors.As(err, &f) || !t.serverEnd.foreign() || len(peers) == 0 || len(t.serverSeat.Prefix) > 0 ||
		!slices.ContainsFunc(t.clients, func(c *conversation) bool { return c.worker.Name == f.Worker }) {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), misspokenTimeout) // the trial's own has ended
	defer cancel()
	told := *f
	found := spoken.At(ctx, peers[0])
	told.Asked = found.Requests()
	if words := t.bench.Catalog.instead(t.work.ServerOptions["wire"], t.work.TLS, found); words != "" {
		told.Text = words + "; " + told.Text
	}
	return &told
}

// instead says what to give for a server that speaks another wire than was declared;
// "" for one that speaks that, or nothing that is known here.
func (c *Catalog) instead(declared string, encrypted bool, found spoken.Wire) string {
	if declared == "" {
		declared = spoken.Echo
	}
	same := found.Name == declared || strings.HasPrefix(declared, "grpc:") && found.Name == spoken.GRPC
	if found == (spoken.Wire{}) || same && found.TLS == encrypted {
		return ""
	}
	var give []string
	if !same && found.Name != "" {
		give = append(give, "opt.server.wire="+found.Name)
		if client := c.clientOf(found.Name); client != "" {
			give = append(give, "client="+client)
		}
	}
	switch {
	case found.TLS && !encrypted:
		give = append(give, "tls=yes")
	case encrypted && !found.TLS:
		give = append(give, "tls=no")
	}
	if found.Name == spoken.GRPC {
		give = append(give, "opt.client.method=/pkg.Service/Method")
	}
	return fmt.Sprintf("the server speaks %s, not %s: give %s", found, spoken.Wire{Name: declared, TLS: encrypted}, strings.Join(give, " "))
}

// clientOf is the client of a wire that people look for first, of those that there
// are; "" for none.
func (c *Catalog) clientOf(wire string) string {
	var all []string
	for _, o := range c.Offers() {
		if o.Wire == wire && o.Has(contract.Client) {
			all = append(all, o.Name)
		}
	}
	for _, usual := range []string{"go-epoll", "go-http1", "go-http2", "go-grpc"} {
		if slices.Contains(all, usual) {
			return usual
		}
	}
	return strings.Join(all[:min(1, len(all))], "")
}
