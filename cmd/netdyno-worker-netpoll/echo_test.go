package main

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/load"
	"netdyno/internal/work/transport/gonet"
	"netdyno/internal/work/worker/workertest"
)

// everyone is this worker's transport and one of another library to meet.
var everyone = append([]load.Transport{gonet.Transport{}}, transports...)

// pairing is one trial between a server and a client of wire echo.
type pairing struct {
	server, client string
	size           int64
	load           contract.Load
}

func (p pairing) connect(t *testing.T) (server, client *workertest.Bench) {
	t.Helper()
	exchange := contract.Exchange{UpBytes: p.size, DownBytes: p.size}
	server, client, _ = workertest.Pair(t, everyone, contract.Setup{
		Transport: p.server, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: exchange, Load: p.load,
		Allow: []string{"127.0.0.1"}, Listeners: 2,
	}, contract.Setup{Transport: p.client, Role: contract.Client, Exchange: exchange, Load: p.load, Seed: 3})
	return server, client
}

// The counts must agree with the library at either end and at both.
func TestCountsOfBothEndsAgree(t *testing.T) {
	loads := map[string]contract.Load{
		"closed":    {Connections: 8},
		"pipelined": {Connections: 3, InFlight: 4},
		"poisson":   {Connections: 8, Rate: 2000, Arrival: contract.Poisson, InFlight: 2},
		"thinking":  {Connections: 8, ThinkNs: 2e6},
		"half idle": {Connections: 8, ActiveShare: 0.5},
	}
	for _, ends := range [][2]string{{"netpoll", "netpoll"}, {"netpoll", "go-net"}, {"go-net", "netpoll"}} {
		for name, l := range loads {
			for _, size := range []int64{1, 100, 3 << 20} {
				if size > 1000 && name != "closed" && name != "pipelined" {
					continue
				}
				t.Run(fmt.Sprintf("%s/%s/%s/%d", ends[0], ends[1], name, size), func(t *testing.T) {
					t.Parallel()
					run(t, pairing{server: ends[0], client: ends[1], size: size, load: l})
				})
			}
		}
	}
}

// run conducts one trial and checks what both ends counted.
func run(t *testing.T, p pairing) {
	t.Helper()
	s, c := p.connect(t)
	c.Start()
	time.Sleep(50 * time.Millisecond)
	c.Mark(1, true)
	before := s.Mark(1, true).Counts
	time.Sleep(300 * time.Millisecond)
	c.Mark(2, false)
	r := c.Stop()
	after := s.Mark(2, false).Counts
	s.Stop()

	counts := r.Counts
	if counts.Exchanges == 0 {
		t.Error("no exchange completed")
	}
	if counts.ReceivedBytes != counts.Exchanges*p.size || counts.SentBytes != counts.ReceivedBytes || len(counts.Errors) > 0 {
		t.Errorf("client counts %+v do not close for %d B", counts, p.size)
	}
	if r.Unfinished != 0 {
		t.Errorf("%d exchanges unfinished with a server that answers", r.Unfinished)
	}
	if service, err := hist.Decode(r.Service); err != nil || service.Count() != counts.Exchanges+r.Drained {
		t.Errorf("%d service times for %d exchanges and %d drained (%v)", service.Count(), counts.Exchanges, r.Drained, err)
	}
	slots := int64(p.load.Connections * max(1, p.load.InFlight))
	// A server counts what it sent after the client may have it.
	if short := after.ReceivedBytes - after.SentBytes; short < 0 || short > slots*p.size {
		t.Errorf("server received %d and sent %d", after.ReceivedBytes, after.SentBytes)
	}
	if got, most := after.ReceivedBytes-before.ReceivedBytes, (counts.Exchanges+r.Drained+slots)*p.size; got > most {
		t.Errorf("server received %d in the window, the client sent at most %d", got, most)
	}
	if after.Connections != int64(p.load.Connections) {
		t.Errorf("server has %d connections open, want %d", after.Connections, p.load.Connections)
	}
}

func TestFixedAmountEndsByItself(t *testing.T) {
	p := pairing{server: "netpoll", client: "netpoll", size: 100, load: contract.Load{Connections: 5, Amount: 40, InFlight: 2}}
	s, c := p.connect(t)
	c.Mark(1, true)
	c.Start()
	if r := c.Expect("result").Result; r.Counts.Exchanges != 200 || r.Counts.ReceivedBytes != 20000 {
		t.Errorf("counts %+v, want exactly 40 exchanges on each of 5 connections", r.Counts)
	}
	// The verified messages are in the server's account.
	if got := s.Settled(contract.Counts{}, 205); got.Exchanges != 205 || got.ReceivedBytes != 20500 {
		t.Errorf("server counts %+v, want 200 exchanges and 5 verified ones", got)
	}
}

// What a connection brought stays in the account when it has gone.
func TestTheAccountOutlivesItsConnections(t *testing.T) {
	s, c := pairing{server: "netpoll", client: "go-net", size: 100, load: contract.Load{Connections: 7}}.connect(t)
	c.End()
	var counts contract.Counts
	for deadline := time.Now().Add(workertest.Timeout); ; time.Sleep(time.Millisecond) {
		if counts = s.Mark(1, false).Counts; counts.Connections == 0 || time.Now().After(deadline) {
			break
		}
	}
	if counts.Connections != 0 || counts.ReceivedBytes != 700 || counts.SentBytes != 700 {
		t.Errorf("counts %+v, want no connection and 700 bytes each way", counts)
	}
}

func TestDeadServerIsCountedNotTimed(t *testing.T) {
	for _, inFlight := range []int{1, 3} {
		l := contract.Load{Connections: 4, InFlight: inFlight}
		server, c := pairing{server: "netpoll", client: "netpoll", size: 100, load: l}.connect(t)
		c.Start()
		c.Mark(1, true)
		time.Sleep(50 * time.Millisecond)
		server.End()
		if m := c.Expect("error"); m.Error.Kind != contract.Peer || !m.Error.Fatal {
			t.Errorf("%d in flight: error %+v, want a fatal one of kind peer", inFlight, m.Error)
		}
	}
}

func TestPollersAreEffective(t *testing.T) {
	setup := contract.Setup{
		Transport: "netpoll", Role: contract.Server, Listen: "127.0.0.1:0",
		Exchange: contract.Exchange{UpBytes: 64, DownBytes: 64}, Options: map[string]any{"pollers": 3.0},
	}
	if ready := workertest.Start(t, transports...).Setup(setup); fmt.Sprint(ready.Options["pollers"]) != "3" {
		t.Errorf("ready says %v, want 3 pollers", ready.Options)
	}
}

// Several source addresses, and a server that accepts only those.
func TestSourcesAndStrangers(t *testing.T) {
	exchange, l := contract.Exchange{UpBytes: 64, DownBytes: 64}, contract.Load{Connections: 9}
	sources := []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"}
	server := workertest.Start(t, transports...)
	at := server.Setup(contract.Setup{
		Transport: "netpoll", Role: contract.Server, Listen: "127.0.0.1:0", Exchange: exchange, Load: l, Allow: sources[1:],
	})
	setup := contract.Setup{
		Transport: "netpoll", Role: contract.Client, Peers: at.Addresses, Exchange: exchange, Load: l, Sources: sources[1:],
	}
	if ready := workertest.Start(t, transports...).Setup(setup); ready.Verified != 9 {
		t.Errorf("%d of 9 connections verified", ready.Verified)
	}
	setup.Sources = sources[:1]
	stranger := workertest.Start(t, transports...)
	stranger.Send(contract.Message{Setup: &setup})
	if m := stranger.Expect("error"); !m.Error.Fatal {
		t.Errorf("a stranger was served: %+v", m.Error)
	}
	if counts := server.Settled(contract.Counts{}, 9); counts.ReceivedBytes != 9*64 {
		t.Errorf("the server counts %d bytes, a stranger's among them", counts.ReceivedBytes)
	}
}

// A peer that changes what it echoes must not become ready.
func TestADifferentEchoIsFound(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		b := make([]byte, 64)
		n, _ := conn.Read(b)
		b[0] ^= 1
		_, _ = conn.Write(b[:n])
		_, _ = conn.Read(b) // until the client has seen enough
	}()
	client := workertest.Start(t, transports...)
	setup := contract.Setup{
		Transport: "netpoll", Role: contract.Client, Peers: []string{l.Addr().String()},
		Exchange: contract.Exchange{UpBytes: 64, DownBytes: 64}, Load: contract.Load{Connections: 1},
	}
	client.Send(contract.Message{Setup: &setup})
	if m := client.Expect("error"); m.Error.Kind != contract.Invalid || !strings.Contains(m.Error.Text, "connection 0") {
		t.Errorf("error %+v, want one of kind invalid that names the connection", m.Error)
	}
}
