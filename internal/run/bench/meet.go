package bench

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/each"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// meet returns the transports of both ends and of the hops between them. One that is not to
// be had, or that cannot meet the others, makes the trial unsupported.
func (c *Catalog) meet(w study.Work) (server, client Offer, hops []Offer, err error) {
	if server, client, err = c.pair(w); err == nil {
		hops, err = c.hops(w, server, client)
	}
	if err != nil {
		err = &failure{Failure: record.Failure{Kind: contract.Unsupported, Text: err.Error()}, cause: err}
	}
	return server, client, hops, err
}

// pair returns the transports of both ends; a transport whose only role is
// pair is both.
func (c *Catalog) pair(w study.Work) (server, client Offer, err error) {
	c = c.catalogFor(w)
	if server, err = c.Offer(w.Server, w.Exchange.Codec); err == nil {
		client, err = c.Offer(w.Client, w.Exchange.Codec)
	}
	if err == nil {
		err = matches(server, client, w)
	}
	if err == nil {
		err = has(client, true, mixFeatures(w, server))
	}
	if err == nil {
		err = able(w, server, client)
	}
	if err == nil {
		err = works(server, w)
	}
	return server, client, err
}

// Ends returns the transports of a trial's ends, one of them where both are
// the same, and of the hops between them; none when they cannot meet.
func (c *Catalog) Ends(w study.Work) []Offer {
	server, client, hops, err := c.meet(w)
	switch {
	case err != nil:
		return nil
	case server.Program == client.Program:
		return append([]Offer{client}, hops...)
	}
	return append([]Offer{server, client}, hops...)
}

// Pairs reports why two ends of a trial cannot meet; nil when they can.
func (c *Catalog) Pairs(w study.Work) error {
	_, _, _, err := c.meet(w)
	return err
}

// Takes reports why the ends of a trial, which must pair, do not take its
// options or its exchange; nil when they do.
func (c *Catalog) Takes(w study.Work) error {
	server, client, err := c.pair(w)
	if err == nil {
		_, err = optionsByRole(w, server, client)
	}
	if err == nil {
		if wire := wireOf(server, w); wire != echo || w.Load.Trace == nil || w.Load.Trace.Times {
			err = sizesFit(wire, w.Exchange)
		}
	}
	return err
}

// sizesFit reports why an exchange cannot go over a wire without headers.
func sizesFit(wire string, x contract.Exchange) error {
	if wire == quic { // what its streams carry is that of the others
		wire = echo
		if x.Stream != "" {
			wire = stream
		}
	}
	switch {
	case x.Varies() && wire == stream:
		return errors.New("wire stream has no headers by which messages of several sizes could be told apart")
	case wire == echo && !slices.Equal(x.UpSizes, x.DownSizes):
		return errors.New("wire echo returns what it is sent: request and response are distributed differently, expected the same")
	case wire == echo && x.UpSizes != nil && x.UpSizes.Least() < 1:
		return errors.New("wire echo returns what it is sent, and request has messages of 0 bytes; expected at least 1B")
	case wire == echo && (x.UpBytes < 1 || x.UpBytes != x.DownBytes):
		return fmt.Errorf("wire echo returns what it is sent: request is %dB and response %dB, expected both equal and at least 1B", x.UpBytes, x.DownBytes)
	case wire == stream && (x.UpBytes < 1 || x.DownBytes < 1):
		return fmt.Errorf("wire stream requests the bytes that come down and confirms those that go up: request is %dB and response %dB, expected both at least 1B", x.UpBytes, x.DownBytes)
	}
	return nil
}

func optionsByRole(w study.Work, server, client Offer) (map[contract.Role]map[string]any, error) {
	if client.Has(contract.Pair) {
		return w.OptionsByRole(map[contract.Role][]contract.Option{contract.Pair: client.Options})
	}
	return w.OptionsByRole(map[contract.Role][]contract.Option{contract.Server: server.Options, contract.Client: client.Options})
}

func matches(server, client Offer, w study.Work) error {
	if client.Has(contract.Pair) || server.Has(contract.Pair) {
		if server.Name != client.Name {
			both, other := client.Name, server.Name
			if !client.Has(contract.Pair) {
				both, other = other, both
			}
			return fmt.Errorf("%s starts both ends itself and cannot be paired with %s", both, other)
		}
		return nil
	}
	if !server.Has(contract.Server) {
		return fmt.Errorf("transport %s has no role server, it has %v", server.Name, server.Roles)
	}
	if !client.Has(contract.Client) {
		return fmt.Errorf("transport %s has no role client, it has %v; name another as client=", client.Name, client.Roles)
	}
	if client.foreign() { // a load generator, by its command line
		return nil
	}
	if at, from := wireOf(server, w), wireOf(client, w); at != from {
		return fmt.Errorf("server %s speaks %s and client %s speaks %s: no wire in common", server.Name, at, client.Name, from)
	}
	return nil
}

// able reports what the trial asks for and an end, the client last, cannot do. A foreign
// server is asked by its clients.
func able(w study.Work, ends ...Offer) error {
	for _, end := range ends {
		if end.Encrypted && !w.TLS {
			return fmt.Errorf("transport %s is always encrypted: add tls=yes (and to what it is compared with, or what is measured is encryption too)", end.Name)
		}
	}
	for i, end := range ends {
		needed, client := features(w), i == len(ends)-1
		if client && w.Load.OneSizeEach() {
			needed = slices.DeleteFunc(needed, func(f contract.Feature) bool { return f == contract.FeatureSizes })
		}
		if err := has(end, client, needed); err != nil {
			return err
		}
	}
	return nil
}

// has reports which feature an end lacks. What is drawn is drawn by the client.
func has(end Offer, client bool, needed []contract.Feature) error {
	for _, feature := range needed {
		if slices.Contains(drawnFeatures, feature) && end.foreign() && client {
			return fmt.Errorf("transport %s runs a program that makes requests by itself, all of one size and evenly or at random; it does not take %s", end.Name, feature)
		}
		if !end.foreign() && !slices.Contains(end.Features, feature) {
			return fmt.Errorf("transport %s does not have feature %s%s; it has %s", end.Name, feature, meaning(feature), listed(end.Features))
		}
	}
	return nil
}

// works reports why a server cannot do the work that the trial asks of it.
func works(server Offer, w study.Work) error {
	switch {
	case w.Work == nil:
		return nil
	case server.foreign():
		return fmt.Errorf("server %s is a program that does its own work; work is for netdyno's servers", server.Name)
	case !slices.Contains(server.Features, w.Work.Feature()):
		return fmt.Errorf("work.by=%s: server %s does not have feature %s; it has %s", w.Work.By, server.Name, w.Work.Feature(), listed(server.Features))
	case w.Exchange.Varies() && (server.Wire == echo || server.Wire == quic):
		return fmt.Errorf("a server of wire %s does not see where a message of several sizes ends, which begins its work; expected one size, or a wire with headers", server.Wire)
	}
	return nil
}

func listed(features []contract.Feature) string {
	if len(features) == 0 {
		return "none"
	}
	words := each.Of(features, func(f contract.Feature) string { return string(f) })
	return strings.Join(words, ", ")
}

// features are what a trial needs of its ends beyond the ordinary.
func features(w study.Work) []contract.Feature {
	var needed []contract.Feature
	if w.TLS {
		needed = append(needed, contract.FeatureTLS)
	}
	if w.Load.Fresh {
		needed = append(needed, contract.FeatureFresh)
	}
	if w.Exchange.Stream != "" {
		needed = append(needed, contract.Feature("stream-"+w.Exchange.Stream))
	}
	if w.Exchange.EveryNs > 0 {
		needed = append(needed, contract.FeatureEvents)
	}
	if w.Exchange.Varies() {
		needed = append(needed, contract.FeatureSizes)
	}
	if w.Load.Arrival == contract.Drawn || len(w.Load.Phases) > 0 {
		needed = append(needed, contract.FeatureArrivals)
	}
	return needed
}

// The wires without headers: with an exchange that streams, echo is stream
// (CONTRACT.md, section Wires).
const (
	echo   = "echo"
	stream = "stream"
	quic   = "quic"
)

// wireOf is what an end speaks; of a foreign server the study says it.
func wireOf(end Offer, w study.Work) string {
	wire := cmp.Or(end.Wire, w.ServerOptions["wire"], w.BothOptions["wire"], echo)
	if wire == echo && w.Exchange.Stream != "" {
		return stream
	}
	return wire
}
