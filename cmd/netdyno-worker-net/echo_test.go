package main

import (
	"fmt"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/worker/workertest"
)

var echoes = []string{"go-net", "go-epoll"}

// pairing is one trial between a server and a client of wires echo and stream.
type pairing struct {
	server, client string
	size           int64 // of an echo
	exchange       contract.Exchange
	load           contract.Load
	options        map[string]any // the server's
	clientOptions  map[string]any
}

// run conducts the trial and returns what both ends counted in the window.
func (p pairing) run(t *testing.T) (client contract.Result, server [2]contract.Reading) {
	t.Helper()
	s, c := p.connect(t)
	c.Start()
	s.Some(contract.Counts{}, p.few())
	c.Mark(1, true)
	server[0] = s.Mark(1, true)
	s.Some(server[0].Counts, p.few())
	c.Mark(2, false)
	client = c.Stop()
	server[1] = s.Mark(2, false)
	s.Stop()
	return client, server
}

// few is how many exchanges warm a client up, and how many make a window, unless
// half a second is shorter: how long they take is the machine's affair.
func (p pairing) few() int64 {
	if p.load.Rate > 0 && p.load.Rate < 10 {
		return 1
	}
	each := int64(10)
	if max(p.size, p.exchange.UpBytes, p.exchange.DownBytes) >= 1<<20 {
		each = 1
	}
	return each * int64(p.load.Connections*max(1, p.load.InFlight))
}

func (p pairing) connect(t *testing.T) (server, client *workertest.Bench) {
	t.Helper()
	server, client, _ = p.ends(t)
	return server, client
}

// ends also returns what the client says when it is ready.
func (p pairing) ends(t *testing.T) (server, client *workertest.Bench, ready contract.Ready) {
	t.Helper()
	exchange := p.exchange
	if exchange.Stream == "" {
		exchange = contract.Exchange{UpBytes: p.size, DownBytes: p.size}
	}
	return workertest.Pair(t, transports, contract.Setup{
		Transport: p.server, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: exchange, Load: p.load,
		Options: p.options, Allow: []string{"127.0.0.1"}, Listeners: 2,
	}, contract.Setup{
		Transport: p.client, Role: contract.Client, Exchange: exchange, Load: p.load, Seed: 3, Options: p.clientOptions,
	})
}

// The counts must agree for every server with every client.
func TestEveryClientAgainstEveryServer(t *testing.T) {
	loads := map[string]contract.Load{
		"closed":     {Connections: 8},
		"pipelined":  {Connections: 3, InFlight: 4},
		"constant":   {Connections: 8, Rate: 2000},
		"poisson":    {Connections: 8, Rate: 2000, Arrival: contract.Poisson, InFlight: 2},
		"thinking":   {Connections: 8, ThinkNs: 2e6},
		"half idle":  {Connections: 8, ActiveShare: 0.5},
		"slow, long": {Connections: 2, Rate: 3},
	}
	for _, server := range echoes {
		for _, client := range echoes {
			for name, l := range loads {
				for _, size := range []int64{1, 100, 3 << 20} {
					if size > 1000 && name != "closed" && name != "pipelined" {
						continue
					}
					t.Run(fmt.Sprintf("%s/%s/%s/%d", server, client, name, size), func(t *testing.T) {
						t.Parallel()
						r, readings := pairing{server: server, client: client, size: size, load: l}.run(t)
						checkCounts(t, r, readings, l, size)
					})
				}
			}
		}
	}
}

func checkCounts(t *testing.T, r contract.Result, server [2]contract.Reading, l contract.Load, size int64) {
	t.Helper()
	c := r.Counts
	if c.Exchanges == 0 && l.Rate != 3 {
		t.Error("no exchange completed")
	}
	if c.ReceivedBytes != c.Exchanges*size || c.SentBytes != c.ReceivedBytes || len(c.Errors) > 0 {
		t.Errorf("client counts %+v do not close for %d B", c, size)
	}
	if r.Unfinished != 0 {
		t.Errorf("%d exchanges unfinished with a server that answers", r.Unfinished)
	}
	service, err := hist.Decode(r.Service)
	if err != nil || service.Count() != c.Exchanges+r.Drained {
		t.Errorf("%d service times for %d exchanges and %d drained (%v)", service.Count(), c.Exchanges, r.Drained, err)
	}
	// The server's window is a little longer; from its opening to its end it
	// must have echoed at least what the client completed since the opening,
	// and all it received it sent.
	before, after := server[0].Counts, server[1].Counts
	slots := int64(l.Connections * max(1, l.InFlight))
	// A server counts what it sent after the client may have it.
	if short := after.ReceivedBytes - after.SentBytes; short < 0 || short > slots*size {
		t.Errorf("server received %d and sent %d", after.ReceivedBytes, after.SentBytes)
	}
	if got := after.ReceivedBytes - before.ReceivedBytes; got > (c.Exchanges+r.Drained+slots)*size {
		t.Errorf("server received %d in the window, the client sent at most %d", got, (c.Exchanges+r.Drained+slots)*size)
	}
	if response, _ := hist.Decode(r.Response); (l.Rate > 0) != (response.Count() > 0) && c.Exchanges > 0 {
		t.Errorf("%d response times at rate %v", response.Count(), l.Rate)
	}
}

func TestFixedAmountEndsByItself(t *testing.T) {
	for _, client := range echoes {
		t.Run(client, func(t *testing.T) {
			p := pairing{server: "go-net", client: client, size: 100, load: contract.Load{Connections: 5, Amount: 40, InFlight: 2}}
			_, c := p.connect(t)
			c.Mark(1, true)
			c.Start()
			r := c.Expect("result").Result
			if r.Counts.Exchanges != 200 || r.Counts.ReceivedBytes != 20000 {
				t.Errorf("counts %+v, want exactly 40 exchanges on each of 5 connections", r.Counts)
			}
		})
	}
}

func TestListenersOfEveryKindServe(t *testing.T) {
	for _, listener := range []string{"shared", "reuseport"} {
		p := pairing{
			server: "go-epoll", client: "go-net", size: 100, load: contract.Load{Connections: 20},
			options: map[string]any{"instances": 5.0, "listener": listener},
		}
		if r, _ := p.run(t); r.Counts.Exchanges == 0 {
			t.Errorf("%s: nothing served", listener)
		}
	}
}

func TestDeadServerIsCountedNotTimed(t *testing.T) {
	for _, client := range echoes {
		t.Run(client, func(t *testing.T) {
			server, c := pairing{server: "go-net", client: client, size: 100, load: contract.Load{Connections: 4}}.connect(t)
			c.Start()
			c.Mark(1, true)
			time.Sleep(50 * time.Millisecond)
			server.End()
			m := c.Expect("error")
			if m.Error.Kind != contract.Peer || !m.Error.Fatal {
				t.Errorf("error %+v, want a fatal one of kind peer", m.Error)
			}
		})
	}
}

// Several source addresses, each with its own ephemeral ports, and a server
// that accepts only those.
func TestSourcesAndStrangers(t *testing.T) {
	exchange, l := contract.Exchange{UpBytes: 64, DownBytes: 64}, contract.Load{Connections: 9}
	sources := []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}
	for _, transport := range echoes {
		t.Run(transport, func(t *testing.T) {
			server := workertest.Start(t, transports...)
			at := server.Setup(contract.Setup{
				Transport: transport, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: exchange, Load: l, Allow: sources[1:],
			})
			setup := contract.Setup{
				Transport: transport, Role: contract.Client, Peers: at.Addresses, Exchange: exchange, Load: l, Sources: sources[1:],
			}
			if ready := workertest.Start(t, transports...).Setup(setup); ready.Verified != 9 {
				t.Errorf("%d of 9 connections verified", ready.Verified)
			}
			stranger := workertest.Start(t, transports...)
			setup.Sources = sources[:1]
			stranger.Send(contract.Message{Setup: &setup})
			if m := stranger.Expect("error"); !m.Error.Fatal {
				t.Errorf("a stranger was served: %+v", m.Error)
			}
		})
	}
}
