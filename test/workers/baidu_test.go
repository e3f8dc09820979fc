package workers_test

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

// framed encodes a frame.
func framed(m baidustd.Meta, message []byte) []byte {
	frame := append(baidustd.AppendHead(nil, &m), message...)
	if err := baidustd.Seal(frame, &m); err != nil {
		panic(err)
	}
	return frame
}

func answered(f baidustd.Frame, id int64) []byte {
	return framed(baidustd.Meta{CorrelationID: id}, f.Message)
}

func right(f baidustd.Frame) []byte { return answered(f, f.Meta.CorrelationID) }

// against runs an echo in two slots against a server that answers the first frame of a
// connection as first says, by which it is verified, and the others as rest does.
func against(t *testing.T, connection string, amount int64, first, rest func(f baidustd.Frame) []byte) contract.Message {
	t.Helper()
	address := workertest.Serve(t, func(conn net.Conn) {
		frames := baidustd.NewReader(conn, 4096, 1<<20)
		for answer := first; ; answer = rest {
			f, err := frames.Next()
			if err != nil {
				return
			}
			if _, err := conn.Write(answer(f)); err != nil {
				return
			}
		}
	})
	p := trial{By: "baidu-std", Exchange: echoed(message("proto", "simple")), Load: contract.Load{Connections: 1, Amount: amount, InFlight: 2}, Client: option("connection", connection)}
	if connection == "pooled" || amount == 1 {
		p.Load.InFlight = 1
	}
	client := p.Dial(t, all, address)
	client.Start()
	return client.Next()
}

// What a server refuses is counted by its kind and taints the trial, which goes on.
func TestRefusalsOfBaiduStdAreCountedByKind(t *testing.T) {
	for code, kind := range map[int32]contract.ErrorKind{
		baidustd.TimedOut: contract.Timeout, baidustd.NoMethod: contract.Invalid, baidustd.Internal: contract.Invalid, 77: contract.Invalid,
	} {
		for _, connection := range []string{"single", "pooled"} {
			m := against(t, connection, 6, right, func(f baidustd.Frame) []byte {
				return framed(baidustd.Meta{CorrelationID: f.Meta.CorrelationID, ErrorCode: code, ErrorText: []byte("not today")}, nil)
			})
			if r := m.Result; r == nil || r.Counts.Exchanges != 0 || r.Counts.Errors[kind] != 6 {
				t.Errorf("%d, %s: %+v, want 6 errors of kind %s", code, connection, m, kind)
			}
		}
	}
}

// A server that sends no frames, or frames that nobody asked for, loses the connection; here it
// is the last one, which ends the trial.
func TestBrokenServersOfBaiduStdLoseTheConnection(t *testing.T) {
	twice := func(f baidustd.Frame) []byte { return append(right(f), right(f)...) }
	for name, answer := range map[string]func(f baidustd.Frame) []byte{
		"another protocol": func(baidustd.Frame) []byte { return []byte("HTTP/1.1 200 OK\r\n\r\n") },
		"huge":             func(baidustd.Frame) []byte { return []byte("PRPC\xff\xff\xff\xff\x00\x00\x00\x04") },
		"another id":       func(f baidustd.Frame) []byte { return answered(f, f.Meta.CorrelationID+1<<40) },
		"no id":            func(f baidustd.Frame) []byte { return answered(f, 0) },
		"an id below zero": func(f baidustd.Frame) []byte { return answered(f, -1<<63) },
		"a second reply":   twice,
	} {
		for _, connection := range []string{"single", "pooled"} {
			if name == "a second reply" && connection == "pooled" {
				continue // it may meet the next call
			}
			m := against(t, connection, 6, right, answer)
			if m.Error == nil || !m.Error.Fatal || m.Error.Kind != contract.Peer {
				t.Errorf("%s, %s: %+v, want a fatal error: no connection is left", name, connection, m)
			}
		}
	}
	// A second reply to the verified exchange, whose id no call of the load has.
	if r := against(t, "single", 1, twice, right).Result; r == nil || r.Counts.Exchanges != 0 || r.Counts.Errors[contract.Invalid] != 1 {
		t.Errorf("%+v, want no exchange and an error of kind invalid", r)
	}
}

// Replies may come in any order.
func TestRepliesFindTheirCalls(t *testing.T) {
	var held []byte
	m := against(t, "single", 6, right, func(f baidustd.Frame) (out []byte) {
		if held == nil {
			held = right(f)
			return nil
		}
		out, held = append(right(f), held...), nil
		return out
	})
	if r := m.Result; r == nil || r.Counts.Exchanges != 6 || len(r.Counts.Errors) > 0 {
		t.Errorf("%+v, want 6 exchanges", m)
	}
}

// small is a server of messages that a fuzzer can write by hand.
var small = trial{Of: "baidu-std", Exchange: contract.Exchange{Codec: "proto", Message: &contract.Structure{
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

// talk sends bytes, ends the sending, and returns the frames that came until the server closed
// the connection.
func talk(t testing.TB, address, sent string) []baidustd.Frame {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatalf("the server is gone: %v", err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(workertest.Timeout)) // a socket takes one
	_, _ = io.WriteString(conn, sent)                        // the server may have closed already
	_ = conn.(*net.TCPConn).CloseWrite()
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
	server, address := small.Listen(t, all)
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
	server, address := small.Listen(t, all)
	compressed := baidustd.Meta{Service: []byte("Exchange"), Method: []byte("Simple"), Compression: 2}
	sent := []string{
		asked("shop.v1.Shop", "Simple", 1, up), asked("netdyno.v1.Exchange", "Unary", 2, up), asked("", "", 3, up),
		asked("netdyno.v1.Exchange", "Simple", 4, "\xff"), string(framed(compressed, []byte(up))), asked(strings.Repeat("s", 60_000), "Simple", 6, up),
		asked("Exchange", "Simple", 7, up), // as jprotobuf's clients ask
	}
	want := []int32{baidustd.NoService, baidustd.NoMethod, baidustd.NoService, baidustd.BadRequest, baidustd.BadRequest, baidustd.NoService, 0}
	replies := talk(t, address, strings.Join(sent, ""))
	if len(replies) != len(want) {
		t.Fatalf("%d replies, want %d", len(replies), len(want))
	}
	for i, r := range replies {
		if r.Meta.ErrorCode != want[i] || (want[i] != 0) != (len(r.Meta.ErrorText) > 0) || len(r.Meta.ErrorText) > 1000 {
			t.Errorf("request %d: code %d and %q, want %d", i+1, r.Meta.ErrorCode, r.Meta.ErrorText, want[i])
		}
	}
	if c := server.Settled(contract.Counts{}, 1); c.Errors[contract.Invalid] != 6 || c.Exchanges != 1 {
		t.Errorf("counts %+v, want 6 errors of kind invalid and an exchange", c)
	}
}

// FuzzServer: whatever a connection brings, the server answers in frames or closes it, and
// goes on.
func FuzzServer(f *testing.F) {
	_, address := small.Listen(f, all)
	f.Add(asked("netdyno.v1.Exchange", "Simple", 1, up))
	f.Add(asked("Exchange", "Own", -1, up) + asked("", "", 0, ""))
	f.Add("PRPC\x00\x00\x00\x02\x00\x00\x00\x02\x28\x09")
	f.Add("PRPC\xff\xff\xff\xff\x00\x00\x00\x04")
	f.Fuzz(func(t *testing.T, sent string) {
		talk(t, address, sent)
		alive(t, address)
	})
}
