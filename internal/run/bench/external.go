package bench

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/spoken"
	"netdyno/internal/run/study"
)

// ClientOnly returns the client of a trial whose server stands elsewhere, and why
// it cannot be had, or what the trial asks of a server that is not ours to set
// up.
func (c *Catalog) ClientOnly(w study.Work) (Offer, error) {
	client, err := c.catalogFor(w).Offer(w.Client, w.Exchange.Codec)
	switch {
	case err != nil:
		return client, err
	case client.Has(contract.Pair):
		return client, fmt.Errorf("transport %s starts both ends itself and cannot drive a server elsewhere", client.Name)
	case !client.Has(contract.Client):
		return client, fmt.Errorf("transport %s has no role client, it has %v; name another as client=", client.Name, client.Roles)
	}
	if err := ofServer(w); err != nil {
		return client, err
	}
	if err := able(w, client); err != nil {
		return client, err
	}
	if _, err := clientOptions(w, client); err != nil {
		return client, err
	}
	return client, sizesFit(wireOf(client, w), w.Exchange)
}

// ofServer refuses levels that only whoever starts a server can give it.
func ofServer(w study.Work) error {
	var asked string
	switch options := slices.Sorted(maps.Keys(w.ServerOptions)); {
	case len(options) > 0:
		asked = "opt.server." + options[0]
	case w.Servers > 1:
		asked = fmt.Sprintf("servers=%d", w.Servers)
	case w.Listeners > 1:
		asked = fmt.Sprintf("listeners=%d", w.Listeners)
	case len(w.Path.Hops) > 0:
		return errors.New("path: the server stands already, where no hop is put before it; name its proxy's address instead")
	default:
		return nil
	}
	return fmt.Errorf("%s is for the command that starts the server (netdyno listen), which runs already", asked)
}

// clientOptions types the options of a client without a server of ours.
func clientOptions(w study.Work, client Offer) (map[contract.Role]map[string]any, error) {
	return w.OptionsByRole(map[contract.Role][]contract.Option{contract.Client: client.Options})
}

// seatClients does for a rig of that kind what seat does for all others: there is
// no server to start, and what clients connect to is known already.
func (t *trial) seatClients(external rig.External) error {
	unsupported := func(err error) error {
		return &failure{Failure: record.Failure{Kind: contract.Unsupported, Text: err.Error()}}
	}
	client, err := t.bench.Catalog.ClientOnly(t.work)
	if err != nil {
		return unsupported(err)
	}
	seats, err := rig.ClientSeats(t.bench.hosts(), t.work.Placement, t.work.Clients)
	if err != nil {
		return unsupported(err)
	}
	t.clientEnd, t.clientSeats = client, seats
	t.work.Servers, t.peers = 0, external.Peers()
	return nil
}

// Trusts reports why the clients of an encrypted trial would not trust a server
// that stands elsewhere; nil when they can.
func Trusts(w study.Work, external rig.External) error {
	if !w.TLS || external.Authorities() != "" {
		return nil
	}
	return fmt.Errorf("tls=yes: the clients do not know the server's certificate; copy the certificate.pem that netdyno listen wrote and name it: --rig %s?ca=certificate.pem", external.Name())
}

// trust returns what clients of a server elsewhere need for an encrypted trial.
func trust(w study.Work, external rig.External) (*contract.TLS, error) {
	if err := Trusts(w, external); err != nil || !w.TLS {
		return nil, err
	}
	return &contract.TLS{Authorities: external.Authorities()}, nil
}

// nameServer adds to a client's failure which server it drove, unless the
// client's own words do.
func (t *trial) nameServer(f *record.Failure) {
	named := func(peer string) bool { return strings.Contains(f.Text, peer) }
	if f == nil || len(t.peers) == 0 || f.Worker == "" || slices.ContainsFunc(t.peers, named) {
		return
	}
	f.Text += "; the server is what listens on " + strings.Join(t.peers, " ")
}

// misspokenTimeout bounds how long a server is asked what it speaks, after a trial has
// failed.
const misspokenTimeout = 10 * time.Second

// misspoken adds to a client's failure which wire the user's program speaks, where that
// is another wire than the study says. The question goes out from this host: about a
// server that only another host reaches nothing is said.
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

// instead says what to give for a server that speaks another wire than the declared one;
// "" for a server that speaks the declared wire, or none that is known here.
func (c *Catalog) instead(declared string, encrypted bool, found spoken.Wire) string {
	declared = cmp.Or(declared, spoken.Echo)
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
