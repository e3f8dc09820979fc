package tool

import (
	"io"
	"net"
	"os"
	"testing"
	"time"

	"netdyno/internal/contract"
)

func TestExchangesOfBytes(t *testing.T) {
	x := contract.Exchange{UpBytes: 1000, DownBytes: 500}
	for _, c := range []struct {
		stream         contract.Stream
		role           contract.Role
		sent, received int64
		want           int64
	}{
		{contract.StreamUp, contract.Client, 5999, 70000, 5},
		{contract.StreamUp, contract.Server, 70000, 5999, 5},
		{contract.StreamDown, contract.Client, 70000, 5999, 11},
		{contract.StreamDown, contract.Server, 5999, 70000, 11},
		{contract.StreamBoth, contract.Client, 6000, 1499, 4}, // together
		{"", contract.Server, 3000, 6000, 6},
	} {
		x.Stream = c.stream
		if got := unitOf(x).exchanges(c.role, c.sent, c.received); got != c.want {
			t.Errorf("stream %q, %s, sent %d, received %d: %d exchanges, want %d", c.stream, c.role, c.sent, c.received, got, c.want)
		}
	}
}

// Both ends' counters over one connection of this process, which stands for the
// client's program: what was delivered, and still after it has ended.
func TestCounters(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	port := uint16(l.Addr().(*net.TCPAddr).Port)
	x := contract.Exchange{UpBytes: 1000, DownBytes: 100, Stream: contract.StreamUp}
	server, client, stranger := serverCounters(x, []uint16{port}), clientCounters(x, []uint16{port}), clientCounters(x, []uint16{port})
	client.follow(os.Getpid())
	stranger.follow(1) // init has no connection of ours

	up, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	server.readCounters() // before anybody has accepted it
	down, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := up.Write(make([]byte, 5500)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(down, make([]byte, 5500)); err != nil {
		t.Fatal(err)
	}
	want := func(c *counters, exchanges, sent, received, connections int64) {
		t.Helper()
		var got contract.Counts
		for range 100 { // an acknowledgement may take 40 ms
			got = c.readCounters()
			// The kernel counts the packet that opened a connection as one byte acknowledged.
			if got.Exchanges == exchanges && (got.SentBytes == sent || got.SentBytes == sent+1) && got.ReceivedBytes == received && got.Connections == connections {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("%s: %+v, %v; want %d exchanges, sent %d, received %d, %d connections", c.role, got, c.err(), exchanges, sent, received, connections)
	}
	want(server, 5, 0, 5500, 1)
	want(client, 5, 5500, 0, 1)
	want(stranger, 0, 0, 0, 0)
	up.Close()
	down.Close()
	want(server, 5, 0, 5500, 0)
	want(client, 5, 5500, 0, 0)
}
