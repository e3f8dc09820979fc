package main

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/wire/baidustd"
	"netdyno/internal/work/worker/workertest"
)

// small is a server of messages that a fuzzer can write by hand.
var small = trial{Exchange: contract.Exchange{Codec: "proto", Message: &contract.Structure{
	Name: "simple",
	Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"up"}`},
	Down: contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"down"}`},
}}}

const (
	up   = "\x0a\x02up"
	down = "\x0a\x04down"
)

// asked encodes a request.
func asked(service, method string, id int64, message string) string {
	return string(framed(baidustd.Meta{Service: []byte(service), Method: []byte(method), CorrelationID: id}, []byte(message)))
}

// talk sends bytes, ends the sending, and returns the frames that came until
// the server closed the connection.
func talk(t testing.TB, address, sent string) []baidustd.Frame {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatalf("the server is gone: %v", err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(workertest.Timeout))
	io.WriteString(conn, sent) // the server may have closed already
	conn.(*net.TCPConn).CloseWrite()
	var replies []baidustd.Frame
	for r := baidustd.NewReader(conn, 4096, 1<<20); ; {
		f, err := r.Next()
		var timeout net.Error
		if errors.Is(err, baidustd.ErrMalformed) || errors.As(err, &timeout) && timeout.Timeout() {
			t.Fatalf("to %q the server answers %v", sent, err)
		}
		if err != nil {
			return replies // closed, or reset where it left bytes unread
		}
		f.Meta.ErrorText, f.Message = []byte(string(f.Meta.ErrorText)), []byte(string(f.Message)) // the reader's until its next
		replies = append(replies, f)
	}
}

// alive makes an exchange on a connection of its own.
func alive(t testing.TB, address string) {
	t.Helper()
	replies := talk(t, address, asked("netdyno.v1.Exchange", "Simple", 42, up))
	if len(replies) != 1 || string(replies[0].Message) != down || replies[0].Meta.CorrelationID != 42 || replies[0].Meta.ErrorCode != 0 {
		t.Fatalf("a good request is answered by %+v", replies)
	}
}

func TestMalformedFramesCloseTheirConnectionAlone(t *testing.T) {
	t.Parallel()
	server, address := small.Listen(t, transports)
	good := asked("netdyno.v1.Exchange", "Simple", 1, up)
	for i, sent := range []string{
		"GET / HTTP/1.1\r\n\r\n",
		"PRPC\xff\xff\xff\xff\x00\x00\x00\x04",
		"PRPC\x00\x00\x00\x04\x00\x00\x00\x05....",
		"PRPC\x00\x00\x00\x04\x00\x00\x00\x04\xff\xff\xff\xff",
		"PRPC\x00\x00\x00\x02\x00\x00\x00\x02\x28\x09",
		good[:len(good)-1],
		good[:5],
	} {
		if replies := talk(t, address, good+sent+good); len(replies) != 1 && i < 5 {
			t.Errorf("%q after a good request: %d replies, want that to the good one", sent, len(replies))
		}
		talk(t, address, sent)
		if got := server.Mark(1, true).Counts.Errors[contract.Invalid]; got != int64(2*(i+1)) {
			t.Errorf("%q: %d errors of kind invalid, want %d", sent, got, 2*(i+1))
		}
		alive(t, address)
	}
}

func TestRefusedRequestsLeaveTheConnection(t *testing.T) {
	t.Parallel()
	server, address := small.Listen(t, transports)
	compressed := baidustd.Meta{Service: []byte("Exchange"), Method: []byte("Simple"), Compression: 2}
	sent := []string{
		asked("shop.v1.Shop", "Simple", 1, up), asked("netdyno.v1.Exchange", "Unary", 2, up), asked("", "", 3, up),
		asked("netdyno.v1.Exchange", "Simple", 4, "\xff"), string(framed(compressed, []byte(up))), asked(strings.Repeat("s", 60_000), "Simple", 6, up),
		asked("Exchange", "Simple", 7, up), // as jprotobuf's clients ask
	}
	codes := []int32{baidustd.NoService, baidustd.NoMethod, baidustd.NoService, baidustd.BadRequest, baidustd.BadRequest, baidustd.NoService, 0}
	replies := talk(t, address, strings.Join(sent, ""))
	if len(replies) != len(codes) {
		t.Fatalf("%d replies, want %d", len(replies), len(codes))
	}
	for i, r := range replies {
		if r.Meta.ErrorCode != codes[i] || (codes[i] != 0) != (len(r.Meta.ErrorText) > 0) || len(r.Meta.ErrorText) > 1000 {
			t.Errorf("request %d: code %d and %q, want %d", i+1, r.Meta.ErrorCode, r.Meta.ErrorText, codes[i])
		}
	}
	if c := server.Settled(contract.Counts{}, 1); c.Errors[contract.Invalid] != 6 || c.Exchanges != 1 {
		t.Errorf("counts %+v, want 6 errors of kind invalid and an exchange", c)
	}
}

// FuzzServer: whatever a connection brings, the server answers in frames or
// closes it, and goes on.
func FuzzServer(f *testing.F) {
	_, address := small.Listen(f, transports)
	f.Add(asked("netdyno.v1.Exchange", "Simple", 1, up))
	f.Add(asked("Exchange", "Own", -1, up) + asked("", "", 0, ""))
	f.Add("PRPC\x00\x00\x00\x02\x00\x00\x00\x02\x28\x09")
	f.Add("PRPC\xff\xff\xff\xff\x00\x00\x00\x04")
	f.Add("GET / HTTP/1.1\r\n\r\n")
	f.Fuzz(func(t *testing.T, sent string) {
		talk(t, address, sent)
		alive(t, address)
	})
}
