package native_test

import (
	"slices"
	"testing"

	"netdyno/internal/contract"
)

// trial is one amount of exchanges between a server and a client.
type trial struct {
	server, client string
	exchange       contract.Exchange
	load           contract.Load
	options        map[string]any // of both ends
	encrypted      *contract.TLS  // nil for plain text
}

func (p trial) setups() (server, client contract.Setup) {
	server = contract.Setup{
		Role: contract.Server, Listen: "127.0.0.1:0", Listeners: 2, Allow: []string{"127.0.0.1"},
		Exchange: p.exchange, Load: p.load, Options: p.options,
	}
	client = contract.Setup{Role: contract.Client, Exchange: p.exchange, Load: p.load, Options: p.options, Seed: 3}
	if p.encrypted != nil {
		server.TLS, client.TLS = p.encrypted, &contract.TLS{Authorities: p.encrypted.Authorities}
	}
	return server, client
}

// connect starts both ends and has them ready.
func (p trial) connect(t *testing.T) (server, client *end) {
	t.Helper()
	server, client = start(t, p.server), start(t, p.client)
	s, c := p.setups()
	listening := server.setup(s)
	if len(listening.Addresses) != 2 {
		t.Fatalf("the server listens on %v, want two addresses", listening.Addresses)
	}
	c.Peers = listening.Addresses
	ready := client.setup(c)
	if ready.Connections != p.load.Connections || ready.Verified != p.load.Connections {
		t.Fatalf("the client is ready with %+v, want %d connections verified", ready, p.load.Connections)
	}
	if ready.UpBytes != listening.UpBytes || ready.DownBytes != listening.DownBytes {
		t.Errorf("encoded sizes are %d and %d at the client, %d and %d at the server",
			ready.UpBytes, ready.DownBytes, listening.UpBytes, listening.DownBytes)
	}
	return server, client
}

// run runs the amount and checks that both ends counted exactly that.
func (p trial) run(t *testing.T) {
	t.Helper()
	server, client := p.connect(t)
	// A server may count the verified exchanges after the client has them.
	opened := server.counted(int64(p.load.Connections))
	if opened.Connections != int64(p.load.Connections) {
		t.Errorf("the server has %d connections open, want %d", opened.Connections, p.load.Connections)
	}
	client.mark(1, true)
	client.send(contract.Message{Start: &contract.Start{}})
	r := client.expect("result").Result
	want := p.load.Amount * int64(p.load.Connections)
	counted := server.counted(opened.Exchanges + want)
	if r.Counts.Exchanges != want || len(r.Counts.Errors) > 0 || r.Unfinished != 0 {
		t.Errorf("the client counts %+v, %d unfinished; want %d exchanges", r.Counts, r.Unfinished, want)
	}
	if p.exchange.Codec == "" && (r.Counts.SentBytes != want*p.exchange.UpBytes || r.Counts.ReceivedBytes != want*p.exchange.DownBytes) {
		t.Errorf("the client sent %d and received %d bytes in %d exchanges", r.Counts.SentBytes, r.Counts.ReceivedBytes, want)
	}
	got := contract.Counts{
		Exchanges:     counted.Exchanges - opened.Exchanges,
		ReceivedBytes: counted.ReceivedBytes - opened.ReceivedBytes,
		SentBytes:     counted.SentBytes - opened.SentBytes,
	}
	if got.Exchanges != want || got.ReceivedBytes != r.Counts.SentBytes || got.SentBytes != r.Counts.ReceivedBytes {
		t.Errorf("the server counts %+v, the client %+v: the counts of both ends differ", got, r.Counts)
	}
}

func blocks(up, down int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down}
}

func streamed(s contract.Stream, up, down, chunk int64) contract.Exchange {
	return contract.Exchange{UpBytes: up, DownBytes: down, Stream: s, ChunkBytes: chunk}
}

// reply holds something in its first field, in one of a two-byte tag, and in the
// last.
const reply = `{"replyValue1":"some words","replyValue2":"ÄÖÜ","replyValue16":"🐎","replyValue20":"the last"}`

func message(name string, s contract.Stream) contract.Exchange {
	x := contract.Exchange{Codec: "proto", Stream: s, ChunkBytes: 7, Message: &contract.Structure{
		Name: name,
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"what should carry it, ÄÖÜ and 🐎"}`},
		Down: contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"gRPC, in two languages"}`},
	}}
	if name == "complex" {
		x.Message.Down = contract.Content{Type: "netdyno.v1.Reply", JSON: reply}
	}
	return x
}

// The sizes lie around what the libraries treat differently: nothing, inlined
// slices, one frame, one buffer, the receive limit of 4 MiB.
var exchanges = map[string]contract.Exchange{
	"nothing":        blocks(0, 0),
	"small":          blocks(1, 100),
	"up":             blocks(20_000, 1),
	"around a key":   blocks(992, 993), // of the content's generator
	"large":          blocks(5<<20, 4<<20),
	"simple":         message("simple", ""),
	"complex":        message("complex", ""),
	"up in chunks":   streamed(contract.StreamUp, 300_000, 10, 64<<10),
	"down in chunks": streamed(contract.StreamDown, 10, 300_000, 0),
	"both in chunks": streamed(contract.StreamBoth, 5<<20, 2<<20, 1000_000),
	"empty chunks":   streamed(contract.StreamBoth, 0, 0, 10),
	"whole chunks":   streamed(contract.StreamBoth, 100, 200, 100),
	"a byte a chunk": streamed(contract.StreamBoth, 1, 1000, 1),
	"4 MiB in 64ths": streamed(contract.StreamBoth, 4<<20, 4<<20, 64<<10),
	"encoded chunks": message("complex", contract.StreamBoth),
	"encoded up":     message("simple", contract.StreamUp),
	"encoded down":   message("complex", contract.StreamDown),
}

// modes are the options by which an exchange may travel between two ends.
func modes(x contract.Exchange, ends ...string) map[string]map[string]any {
	modes := map[string]map[string]any{"unary": nil}
	talks := x.Stream == "" && !slices.Contains(ends, "grpcpp") // which has no option mode
	if talks {
		modes["stream"] = map[string]any{"mode": "stream"}
	}
	if x.Codec == "" {
		modes["raw"] = map[string]any{"codec": "raw"}
	}
	if talks && x.Codec == "" {
		modes["raw stream"] = map[string]any{"mode": "stream", "codec": "raw"}
	}
	return modes
}

// loaded runs an amount on the active connections alone.
func (p trial) loaded(t *testing.T) {
	t.Helper()
	_, client := p.connect(t)
	client.mark(1, true)
	client.send(contract.Message{Start: &contract.Start{}})
	r := client.expect("result").Result
	share := p.load.ActiveShare
	if share == 0 {
		share = 1
	}
	want := p.load.Amount * int64(share*float64(p.load.Connections))
	if r.Counts.Exchanges != want || len(r.Counts.Errors) > 0 || r.Counts.Connections != int64(p.load.Connections) {
		t.Errorf("the client counts %+v, want %d exchanges on %d connections", r.Counts, want, p.load.Connections)
	}
}
