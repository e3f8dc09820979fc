package main

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/worker/workertest"
)

var kinds = []string{"go-connect", "go-connect-grpc"}

// small, large and structured exchanges.
var exchanges = map[string]contract.Exchange{
	"bytes":         {UpBytes: 100, DownBytes: 2000},
	"empty up":      {UpBytes: 0, DownBytes: 300},
	"empty down":    {UpBytes: 300, DownBytes: 0},
	"large":         {UpBytes: 200_000, DownBytes: 500_000},
	"proto simple":  message("proto", "simple"),
	"proto complex": message("proto", "complex"),
	"json simple":   message("json", "simple"),
	"json complex":  message("json", "complex"),
}

func message(codec, name string) contract.Exchange {
	down := contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"good morning"}`}
	if name == "complex" {
		down = contract.Content{Type: "netdyno.v1.Reply", JSON: workertest.Reply("one", "two", "three", "four")}
	}
	return contract.Exchange{Codec: codec, Message: &contract.Structure{
		Name: name, Up: contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"hello"}`}, Down: down,
	}}
}

// pairing is one trial between two ends.
type pairing struct {
	server, client         string
	exchange               contract.Exchange
	load                   contract.Load
	serverOptions, options map[string]any
	serverTLS, clientTLS   *contract.TLS
}

func (p pairing) setups() (server, client contract.Setup) {
	server = contract.Setup{
		Transport: p.server, Role: contract.Server, Listen: "127.0.0.1:0", Listeners: 2, Allow: []string{"127.0.0.1"},
		Exchange: p.exchange, Options: p.serverOptions, TLS: p.serverTLS,
	}
	client = contract.Setup{
		Transport: p.client, Role: contract.Client, Exchange: p.exchange, Load: p.load, Options: p.options, Seed: 3, TLS: p.clientTLS,
	}
	return server, client
}

// connect sets both ends up; the client must be ready.
func (p pairing) connect(t *testing.T) (server, client *workertest.Bench, ready contract.Ready) {
	t.Helper()
	listening, connecting := p.setups()
	return workertest.Pair(t, transports, listening, connecting)
}

// fail sets both ends up; the client must refuse.
func (p pairing) fail(t *testing.T) *contract.Error {
	t.Helper()
	listening, connecting := p.setups()
	server := workertest.Start(t, transports...)
	connecting.Peers = server.Setup(listening).Addresses
	e := workertest.Refused(t, transports, connecting)
	if !e.Fatal {
		t.Errorf("error %+v is not fatal", e)
	}
	return e
}

// run runs the trial, by the clock unless the load has an amount, and checks that
// both ends count the same.
func (p pairing) run(t *testing.T) contract.Result {
	t.Helper()
	server, client, ready := p.connect(t)
	server.Mark(1, true)
	before := server.Settled(contract.Counts{}, int64(p.load.Connections)) // one on each connection verified it
	var opened contract.Counts
	var r contract.Result
	if p.load.Amount > 0 {
		opened = client.Mark(1, true).Counts
		client.Start()
		r = *client.Expect("result").Result
	} else {
		client.Start()
		time.Sleep(30 * time.Millisecond)
		opened = client.Mark(1, true).Counts
		time.Sleep(150 * time.Millisecond)
		client.Mark(2, false)
		r = client.Stop()
	}
	after := server.Settled(before, opened.Exchanges+r.Counts.Exchanges+r.Drained)

	up, down := p.exchange.UpBytes, p.exchange.DownBytes
	if p.exchange.Message != nil {
		up, down = ready.UpBytes, ready.DownBytes
	}
	c := r.Counts
	if c.Exchanges == 0 || c.SentBytes != c.Exchanges*up || c.ReceivedBytes != c.Exchanges*down || len(c.Errors) > 0 {
		t.Errorf("client counts %+v do not close for %d up and %d down", c, up, down)
	}
	if r.Unfinished != 0 {
		t.Errorf("%d exchanges unfinished with a server that answers", r.Unfinished)
	}
	service, err := hist.Decode(r.Service)
	if err != nil || service.Count() != c.Exchanges+r.Drained {
		t.Errorf("%d service times for %d exchanges and %d drained (%v)", service.Count(), c.Exchanges, r.Drained, err)
	}
	// Every exchange that the client began has completed, so both ends agree.
	n := after.Exchanges - before.Exchanges
	if n != opened.Exchanges+c.Exchanges+r.Drained {
		t.Errorf("server counts %d exchanges, client %d before the window, %d in it and %d after", n, opened.Exchanges, c.Exchanges, r.Drained)
	}
	if got, sent := after.ReceivedBytes-before.ReceivedBytes, after.SentBytes-before.SentBytes; got != n*up || sent != n*down {
		t.Errorf("server received %d and sent %d in %d exchanges of %d up and %d down", got, sent, n, up, down)
	}
	if want := int64(p.load.Connections); !p.load.Fresh && after.Connections != want {
		t.Errorf("%d connections are open, want %d: one for each of netdyno's", after.Connections, want)
	}
	return r
}

func TestBothEndsCountTheSame(t *testing.T) {
	for _, kind := range kinds {
		for name, x := range exchanges {
			for _, compression := range []string{"default", "none"} {
				t.Run(strings.Join([]string{kind, name, compression}, "/"), func(t *testing.T) {
					options := map[string]any{"compression": compression}
					pairing{server: kind, client: kind, exchange: x, load: contract.Load{Connections: 3, Amount: 3}, serverOptions: options, options: options}.run(t)
				})
			}
		}
	}
}

func TestLoadsOfEveryKind(t *testing.T) {
	loads := map[string]contract.Load{
		"constant":    {Connections: 4, Rate: 400},
		"poisson":     {Connections: 4, Rate: 400, Arrival: contract.Poisson},
		"thinking":    {Connections: 4, ThinkNs: 2e6},
		"half idle":   {Connections: 4, ActiveShare: 0.5},
		"fresh":       {Connections: 3, Fresh: true, Amount: 5},
		"multiplexed": {Connections: 2, InFlight: 8},
		"crowded":     {Connections: 1, InFlight: 120, Amount: 1000},
	}
	for _, kind := range kinds {
		for name, l := range loads {
			if l.InFlight > 1 && kind == "go-connect" {
				continue
			}
			t.Run(kind+"/"+name, func(t *testing.T) {
				pairing{server: kind, client: kind, exchange: exchanges["bytes"], load: l}.run(t)
			})
		}
	}
}

func TestStreams(t *testing.T) {
	for _, stream := range []contract.Stream{contract.StreamUp, contract.StreamDown, contract.StreamBoth} {
		for _, chunk := range []int64{0, 10_000, 64 << 10} {
			for _, size := range []int64{0, 150_001} {
				t.Run(fmt.Sprintf("%s/%d/%d", stream, chunk, size), func(t *testing.T) {
					x := contract.Exchange{UpBytes: size, DownBytes: size + 1, Stream: stream, ChunkBytes: chunk}
					pairing{server: kinds[1], client: kinds[1], exchange: x, load: contract.Load{Connections: 2, InFlight: 2, Amount: 4}}.run(t)
				})
			}
		}
	}
}

// What a codec encodes travels in chunks as bytes do.
func TestStreamsOfStructuredMessages(t *testing.T) {
	for _, stream := range []contract.Stream{contract.StreamUp, contract.StreamDown, contract.StreamBoth} {
		for _, codec := range []string{"proto", "json"} {
			x := message(codec, "complex")
			x.Stream, x.ChunkBytes = stream, 7
			pairing{server: kinds[1], client: kinds[1], exchange: x, load: contract.Load{Connections: 1, Amount: 5}}.run(t)
		}
	}
}

func TestOptionsAreHonoured(t *testing.T) {
	for name, p := range map[string]pairing{
		"get":        {server: kinds[0], client: kinds[0], options: map[string]any{"get": true}, serverOptions: map[string]any{"get": true}},
		"buffers":    {server: kinds[0], client: kinds[0], options: map[string]any{"read_buffer": 65536.0, "write_buffer": 65536.0}},
		"windows":    {server: kinds[1], client: kinds[1], options: map[string]any{"stream_window": 65536.0, "connection_window": 1e6, "max_frame": 32768.0}},
		"streams":    {server: kinds[1], client: kinds[1], serverOptions: map[string]any{"max_streams": 1000.0}, load: contract.Load{Connections: 1, InFlight: 300, Amount: 600}},
		"enough max": {server: kinds[1], client: kinds[1], options: map[string]any{"read_max": 1e6}},
	} {
		for _, x := range []string{"bytes", "proto complex", "json complex"} {
			t.Run(name+"/"+x, func(t *testing.T) {
				p.exchange = exchanges[x]
				if p.load.Connections == 0 {
					p.load = contract.Load{Connections: 2, Amount: 5}
				}
				p.run(t)
			})
		}
	}
}

func TestFixedAmountEndsByItself(t *testing.T) {
	for _, kind := range kinds {
		_, c, _ := pairing{server: kind, client: kind, exchange: exchanges["bytes"], load: contract.Load{Connections: 5, Amount: 20}}.connect(t)
		c.Mark(1, true)
		c.Start()
		r := c.Expect("result").Result
		if r.Counts.Exchanges != 100 || r.Counts.ReceivedBytes != 100*2000 {
			t.Errorf("%s: counts %+v, want exactly 20 exchanges on each of 5 connections", kind, r.Counts)
		}
	}
}

// A user's own message travels by the procedure that option method names.
func TestOwnMessage(t *testing.T) {
	x := message("json", "mine")
	x.Message.Up.Type, x.Message.Up.JSON = "netdyno.v1.Reply", workertest.Reply("a")
	for _, kind := range kinds {
		method := map[string]any{"method": "/my.pkg.Store/Put"}
		p := pairing{server: kind, client: kind, exchange: x, load: contract.Load{Connections: 1, Amount: 5}, options: method, serverOptions: method}
		p.run(t)
		p.serverOptions = nil
		if e := p.fail(t); e.Kind != contract.Invalid {
			t.Errorf("%s: a server without the procedure: %+v, want kind invalid", kind, e)
		}
	}
}

func TestRefusals(t *testing.T) {
	small := map[string]any{"read_max": 100.0}
	other := exchanges["bytes"]
	other.DownBytes++
	for name, c := range map[string]struct {
		pairing
		kind contract.ErrorKind
		says string
	}{
		"in flight over HTTP/1.1": {pairing{server: kinds[0], client: kinds[0], load: contract.Load{Connections: 1, InFlight: 2}}, contract.Unsupported, "one exchange at a time"},
		"reply above read_max":    {pairing{server: kinds[0], client: kinds[0], options: small}, contract.Invalid, "larger than"},
		"reply above, gRPC":       {pairing{server: kinds[1], client: kinds[1], options: small}, contract.Invalid, "larger than"},
		"request above read_max":  {pairing{server: kinds[1], client: kinds[1], serverOptions: map[string]any{"read_max": 50.0}}, contract.Invalid, "larger than"},
		"a window too small":      {pairing{server: kinds[1], client: kinds[1], options: map[string]any{"connection_window": 10.0}}, contract.SetupFailed, "expected 0 or at least 65535"},
		"more streams than fit":   {pairing{server: kinds[1], client: kinds[1], load: contract.Load{Connections: 1, InFlight: 400}}, contract.SetupFailed, "max_streams"},
		"other protocol":          {pairing{server: kinds[0], client: kinds[1]}, contract.Peer, "connect 1 of 1"},
	} {
		t.Run(name, func(t *testing.T) {
			c.exchange = exchanges["bytes"]
			if c.load.Connections == 0 {
				c.load.Connections = 1
			}
			if e := c.fail(t); e.Kind != c.kind || !strings.Contains(e.Text, c.says) {
				t.Errorf("error %+v, want kind %s and text with %q", e, c.kind, c.says)
			}
		})
	}
}

func TestDeadServerIsCountedNotTimed(t *testing.T) {
	for _, kind := range kinds {
		for _, inFlight := range []int{1, 4} {
			if inFlight > 1 && kind == "go-connect" {
				continue
			}
			server, c, _ := pairing{server: kind, client: kind, exchange: exchanges["bytes"], load: contract.Load{Connections: 4, InFlight: inFlight}}.connect(t)
			c.Start()
			c.Mark(1, true)
			time.Sleep(50 * time.Millisecond)
			server.End()
			if m := c.Expect("error"); m.Error.Kind != contract.Peer || !m.Error.Fatal {
				t.Errorf("%s: error %+v, want a fatal one of kind peer", kind, m.Error)
			}
		}
	}
}

// The protocol is plain enough for curl.
func TestCurl(t *testing.T) {
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Skip("curl is not installed: `make packages-test` installs it")
	}
	server := workertest.Start(t, transports...)
	setup := contract.Setup{Transport: "go-connect", Role: contract.Server, Listen: "127.0.0.1:0", Exchange: message("json", "complex")}
	url := "http://" + server.Setup(setup).Addresses[0] + "/netdyno.v1.Exchange/"
	ask := func(method, body string) string {
		out, err := exec.Command(curl, "-sS", "-w", " %{http_code}", "-H", "Content-Type: application/json", "-d", body, url+method).Output()
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	reply := workertest.Reply("one", "two", "three", "four")
	for _, c := range []struct{ method, body, want string }{
		{"Complex", `{"text":"hello"}`, reply + " 200"},
		{"Complex", `{"text":`, `{"code":"invalid_argument"`},
		{"Simple", `{"text":"hello"}`, "404 page not found"},
	} {
		if got := ask(c.method, c.body); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s: %q, want %q", c.method, c.body, got, c.want)
		}
	}
	if got := server.Settled(contract.Counts{}, 1); got.Exchanges != 1 || got.SentBytes != int64(len(reply)) {
		t.Errorf("counts %+v, want one exchange of %d bytes down", got, len(reply))
	}
}
