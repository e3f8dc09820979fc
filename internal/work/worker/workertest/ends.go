package workertest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// Ends is one trial between a server and a client of some transports, as far as its tests
// say anything about it. Of and By name the server's transport and the client's; the first
// one is both where they are empty.
type Ends struct {
	Of, By         string
	Exchange       contract.Exchange
	Load           contract.Load
	TLS            *contract.TLS  // the server's; the client only has its authorities
	Server, Client map[string]any // options
}

// With gives both ends an option.
func With(name string, value any) Ends {
	return Ends{Server: map[string]any{name: value}, Client: map[string]any{name: value}}
}

// Setups returns both ends' setups; the client's lacks its peers.
func (e Ends) Setups(transports []load.Transport) (server, client contract.Setup) {
	first := transports[0].Describe().Name
	server = contract.Setup{
		Transport: cmp.Or(e.Of, first), Role: contract.Server, Listen: "127.0.0.1:0", Allow: []string{"127.0.0.1"},
		Exchange: e.Exchange, Load: e.Load, TLS: e.TLS, Options: e.Server,
	}
	client = contract.Setup{
		Transport: cmp.Or(e.By, first), Role: contract.Client, Exchange: e.Exchange, Load: e.Load, TLS: e.TLS, Options: e.Client, Seed: 3,
	}
	if e.TLS != nil {
		client.TLS = &contract.TLS{Authorities: e.TLS.Authorities}
	}
	return server, client
}

// Listen starts the server.
func (e Ends) Listen(t testing.TB, transports []load.Transport) (server *Bench, address string) {
	t.Helper()
	setup, _ := e.Setups(transports)
	return Listen(t, transports, setup)
}

// Connect starts both ends.
func (e Ends) Connect(t testing.TB, transports []load.Transport) (server, client *Bench) {
	t.Helper()
	s, c := e.Setups(transports)
	server, client, _ = Pair(t, transports, s, c)
	return server, client
}

// Dial starts the client against somebody else's server.
func (e Ends) Dial(t testing.TB, transports []load.Transport, address string) *Bench {
	t.Helper()
	_, setup := e.Setups(transports)
	setup.Peers = []string{address}
	client := Start(t, transports...)
	client.Setup(setup)
	return client
}

// Refused gives the client, with one connection, to a server at an address and
// returns its error.
func (e Ends) Refused(t testing.TB, transports []load.Transport, address string) *contract.Error {
	t.Helper()
	_, setup := e.Setups(transports)
	setup.Peers, setup.Load.Connections = []string{address}, 1
	return Refused(t, transports, setup)
}

// Amount runs a fixed number of exchanges on every connection, and returns the client's
// result.
func (e Ends) Amount(t testing.TB, transports []load.Transport, each int64) contract.Result {
	t.Helper()
	e.Load.Amount = each
	server, client := e.Connect(t, transports)
	_, setup := e.Setups(transports)
	return Amount(t, server, client, setup)
}

// Loads are all sorts of load, by name.
func Loads() map[string]contract.Load {
	return map[string]contract.Load{
		"closed": {Connections: 4}, "in flight": {Connections: 2, InFlight: 100}, "constant": {Connections: 4, Rate: 100},
		"poisson": {Connections: 4, Rate: 100, Arrival: contract.Poisson, InFlight: 2}, "half idle": {Connections: 4, ActiveShare: 0.5},
		"thinking": {Connections: 4, ThinkNs: 1e6}, "fresh": {Connections: 2, Fresh: true},
	}
}

// Drains runs the load until 20 exchanges were counted, over as many TCP
// connections as it declares, and stops it: whatever was in flight is drained.
func (e Ends) Drains(t testing.TB, transports []load.Transport) {
	t.Helper()
	e.Load.DrainNs = int64(Timeout) / 2
	server, client := e.Connect(t, transports)
	_, setup := e.Setups(transports)
	before := server.verified(setup).Exchanges
	client.Mark(1, true)
	client.Start()
	if open := server.Until(before + 20).Connections; !e.Load.Fresh && open != int64(e.Load.Connections) {
		t.Errorf("%d TCP connections are open, want %d", open, e.Load.Connections)
	}
	client.Mark(2, false)
	r := client.Stop()
	if c := r.Counts; c.Exchanges+r.Drained < 20 || len(c.Errors) > 0 || r.Unfinished != 0 || c.ReceivedBytes != c.Exchanges*e.Exchange.DownBytes {
		t.Errorf("counts %+v, %d drained, %d unfinished", c, r.Drained, r.Unfinished)
	}
}

// DiesWithItsServer lets the server die under the load of three connections,
// which ends the trial: nothing is dialled again.
func (e Ends) DiesWithItsServer(t testing.TB, transports []load.Transport) {
	t.Helper()
	e.Load.Connections = 3
	server, client := e.Connect(t, transports)
	client.Mark(1, true)
	client.Start()
	server.Until(20)
	server.End()
	if m := client.Expect("error"); m.Error.Kind != contract.Peer || !m.Error.Fatal {
		t.Errorf("error %+v, want a fatal one of kind peer", m.Error)
	}
}

// AdmitsItsOwn has a server that lets in two addresses of loopback serve clients that dial
// from these in turn, and turn away one at another address.
func (e Ends) AdmitsItsOwn(t testing.TB, transports []load.Transport) {
	t.Helper()
	e.Load.Connections = 9
	server, client := e.Setups(transports)
	server.Allow = []string{"127.0.0.2", "127.0.0.3"}
	_, address := Listen(t, transports, server)
	client.Peers, client.Sources = []string{address}, server.Allow
	if ready := Start(t, transports...).Setup(client); ready.Verified != e.Load.Connections {
		t.Errorf("%d of %d connections verified", ready.Verified, e.Load.Connections)
	}
	client.Sources = []string{"127.0.0.1"}
	if err := Refused(t, transports, client); !err.Fatal || err.Kind != contract.Peer {
		t.Errorf("a stranger was served: %+v", err)
	}
}

// Misfits starts the server and fails the test unless that client refuses it,
// with a fatal error of that kind and those words.
func (e Ends) Misfits(t testing.TB, transports []load.Transport, client Ends, kind contract.ErrorKind, words ...string) {
	t.Helper()
	_, address := e.Listen(t, transports)
	err := client.Refused(t, transports, address)
	Says(t, "the client", err, words...)
	if err.Kind != kind || !err.Fatal {
		t.Errorf("error %+v, want a fatal one of kind %s", err, kind)
	}
}

// Blocks is an exchange of opaque bytes.
func Blocks(up, down int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down}
}

// Drawn is an exchange whose sizes are drawn each way.
func Drawn() contract.Exchange {
	up := contract.Table{{1 << 30, 0, 0}, {3 << 30, 1, 4096}, {contract.TableEnd, 60_000, 200_000}}
	down := contract.Table{{2 << 30, 0, 300}, {contract.TableEnd, 100_000, 100_000}}
	return contract.Exchange{UpBytes: up.Most(), DownBytes: down.Most(), UpSizes: up, DownSizes: down}
}

// The texts of a message that is exchanged.
const (
	Question = "what should carry it"
	Answer   = "this one, this time"
)

// Reply is a netdyno.v1.Reply as encoding/json writes it: the texts in its first
// fields, nothing in the others. It panics for more than twenty.
func Reply(texts ...string) string {
	fields := make([]string, 20)
	for i := range fields {
		fields[i] = fmt.Sprintf(`"replyValue%d":""`, i+1)
	}
	for i, text := range texts {
		encoded, _ := json.Marshal(text) // of a string it cannot fail
		fields[i] = fmt.Sprintf(`"replyValue%d":%s`, i+1, encoded)
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// Message is an exchange of structured messages: a text each way, or where the
// name is complex, twenty texts down.
func Message(codec, name string) contract.Exchange {
	x := contract.Exchange{Codec: codec, Message: &contract.Structure{
		Name: name,
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"` + Question + `"}`},
		Down: contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"` + Answer + `"}`},
	}}
	if name == "complex" {
		x.Message.Down = contract.Content{Type: "netdyno.v1.Reply", JSON: Reply(append(slices.Repeat([]string{"some words"}, 19), "the last")...)}
	}
	return x
}
