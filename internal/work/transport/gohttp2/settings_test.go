package gohttp2

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/wire/nethttp"
	"netdyno/internal/work/worker/workertest"
)

const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"

// Of RFC 9113: types of frames, and settings (section 6.5.2).
const (
	settingsFrame, windowUpdate = 4, 8

	maxConcurrentStreams, initialWindowSize, maxFrameSize = 3, 4, 5

	startingWindow = 1<<16 - 1
)

// announced is what an end says of itself at the begin of a connection.
type announced struct {
	settings map[uint16]int64
	window   int64 // of the connection: what the first WINDOW_UPDATE adds
}

// listen reads frames until both have come.
func listen(t *testing.T, conn net.Conn) announced {
	t.Helper()
	a := announced{settings: map[uint16]int64{}}
	for seen := false; !seen || a.window == 0; {
		var header [9]byte
		if _, err := io.ReadFull(conn, header[:]); err != nil {
			t.Fatal(err)
		}
		payload := make([]byte, int(header[0])<<16|int(header[1])<<8|int(header[2]))
		if _, err := io.ReadFull(conn, payload); err != nil {
			t.Fatal(err)
		}
		switch ack := header[4]&1 == 1; {
		case header[3] == settingsFrame && !ack:
			seen = true
			for ; len(payload) >= 6; payload = payload[6:] {
				a.settings[binary.BigEndian.Uint16(payload)] = int64(binary.BigEndian.Uint32(payload[2:]))
			}
		case header[3] == windowUpdate:
			a.window = int64(binary.BigEndian.Uint32(payload))
		}
	}
	return a
}

func given(role contract.Role, options map[string]any) contract.Setup {
	all := workertest.WithDefaults(Transport{}.Describe().Options, options)
	return contract.Setup{Role: role, Listen: "127.0.0.1:0", Exchange: contract.Exchange{DownBytes: 1}, Load: contract.Load{Connections: 1}, Options: all}
}

var chosen = map[string]any{"max_frame": int64(1 << 15), "connection_window": int64(3 << 20), "stream_window": int64(5 << 20)}

// check compares what ready says with what the wire shows.
func check(t *testing.T, a announced, said map[string]any, starting int64) {
	t.Helper()
	for name, shown := range map[string]int64{
		"max_frame": a.settings[maxFrameSize], "stream_window": a.settings[initialWindowSize], "connection_window": a.window + starting,
	} {
		if said[name] != shown {
			t.Errorf("%s: ready says %v, the wire shows %d", name, said[name], shown)
		}
	}
}

func TestTheWireShowsTheServersSettings(t *testing.T) {
	for _, options := range []map[string]any{nil, chosen, {"max_streams": int64(7)}} {
		server, err := Transport{}.Server(given(contract.Server, options))
		if err != nil {
			t.Fatal(err)
		}
		defer server.Close()
		conn, err := net.Dial("tcp", server.Ready().Addresses[0])
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, preface+"\x00\x00\x00\x04\x00\x00\x00\x00\x00"); err != nil {
			t.Fatal(err)
		}
		a, said := listen(t, conn), server.Ready().Options
		check(t, a, said, startingWindow)
		if said["max_streams"] != a.settings[maxConcurrentStreams] {
			t.Errorf("max_streams: ready says %v, the wire shows %d", said["max_streams"], a.settings[maxConcurrentStreams])
		}
	}
}

// net/http's client adds what is asked for to the window of the beginning,
// where its server fills that up.
func TestTheWireShowsTheClientsSettings(t *testing.T) {
	for _, options := range []map[string]any{nil, chosen} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		setup := given(contract.Client, options)
		setup.Peers = []string{l.Addr().String()}
		failed := make(chan error, 1)
		go func() { _, err := Transport{}.Client(setup); failed <- err }()
		conn, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(conn, make([]byte, len(preface))); err != nil {
			t.Fatal(err)
		}
		effective := map[string]any{}
		if _, err := nethttp.NewHTTP2(setup, effective); err != nil {
			t.Fatal(err)
		}
		check(t, listen(t, conn), effective, 0)
		conn.Close()
		l.Close()
		if err := <-failed; err == nil {
			t.Error("a server that hangs up is taken for one")
		}
	}
}

func TestSizesThatTheLibraryWouldReplaceAreRefused(t *testing.T) {
	for name, value := range map[string]int64{"max_frame": 100, "connection_window": 1000} {
		_, err := Transport{}.Server(given(contract.Server, map[string]any{name: value}))
		if err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s of %d: %v, want a refusal by name", name, value, err)
		}
	}
}
