package native_test

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// raw is a message of n bytes behind gRPC's prefix.
func raw(n int) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(n)), make([]byte, n)...)
}

// raws are messages one behind the other.
func raws(sizes ...int) (all []byte) {
	for _, n := range sizes {
		all = append(all, raw(n)...)
	}
	return all
}

// answer is what a test does on a stream for a message that came.
type answer = func(p *workertest.H2Peer, stream uint32)

// headed writes the header of a reply.
func headed(p *workertest.H2Peer, stream uint32) {
	p.Fields(stream, false, ":status", "200", "content-type", "application/grpc")
}

// misbehavingGRPC answers each exchange as right says and the fourth of a connection as
// wrong does. An exchange is a message, or the end of a stream where streams end with
// theirs; a stream has its header, and gets a good status when the client ends it.
func misbehavingGRPC(t *testing.T, stays bool, right, wrong answer) string {
	return workertest.Serve(t, func(conn net.Conn) {
		if _, err := io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface))); err != nil {
			return
		}
		p := workertest.NewH2Peer(conn)
		_ = p.WriteSettings() // a connection that has ended ends reading, too
		for n := 0; ; {
			frame, err := p.ReadFrame()
			if err != nil {
				return
			}
			switch f := frame.(type) {
			case *http2.SettingsFrame:
				if !f.IsAck() {
					_ = p.WriteSettingsAck()
				}
			case *http2.HeadersFrame:
				headed(p, f.StreamID)
			case *http2.DataFrame:
				if p.Ended(f.StreamID) { // sent before the client saw the end
					continue
				}
				if (stays && len(f.Data()) > 0) || (!stays && f.StreamEnded()) {
					if n++; n == 4 {
						wrong(p, f.StreamID)
						continue
					}
					right(p, f.StreamID)
				}
				if f.StreamEnded() {
					p.Fields(f.StreamID, true, "grpc-status", "0")
				}
			}
		}
	})
}

// fails are what servers do wrong on any stream, and what it counts as.
var fails = map[string]struct {
	wrong answer
	kind  contract.ErrorKind
}{
	"a status":       {func(p *workertest.H2Peer, s uint32) { p.Fields(s, true, "grpc-status", "13", "grpc-message", "broken") }, contract.Invalid},
	"unavailable":    {func(p *workertest.H2Peer, s uint32) { p.Fields(s, true, "grpc-status", "14") }, contract.Peer},
	"too late":       {func(p *workertest.H2Peer, s uint32) { p.Fields(s, true, "grpc-status", "4") }, contract.Timeout},
	"an early end":   {func(p *workertest.H2Peer, s uint32) { p.Fields(s, true, "grpc-status", "0") }, contract.Invalid},
	"no status":      {func(p *workertest.H2Peer, s uint32) { p.Fields(s, true, "x", "y") }, contract.Invalid},
	"an end of data": {func(p *workertest.H2Peer, s uint32) { _ = p.WriteData(s, true, nil) }, contract.Invalid},
	"half a reply": {func(p *workertest.H2Peer, s uint32) {
		_ = p.WriteData(s, false, raw(100)[:50])
		p.Fields(s, true, "grpc-status", "0")
	}, contract.Invalid},
	"half a prefix": {func(p *workertest.H2Peer, s uint32) {
		_ = p.WriteData(s, false, raw(100)[:3])
		p.Fields(s, true, "grpc-status", "0")
	}, contract.Invalid},
	"a prefix that lies": {func(p *workertest.H2Peer, s uint32) { _ = p.WriteData(s, false, []byte{0, 0xff, 0xff, 0xff, 0xff, 1}) }, contract.Invalid},
	"compressed": {func(p *workertest.H2Peer, s uint32) {
		_ = p.WriteData(s, false, append([]byte{1}, raw(100)[1:]...))
	}, contract.Invalid},
	"a reset": {func(p *workertest.H2Peer, s uint32) { _ = p.WriteRSTStream(s, http2.ErrCodeInternal) }, contract.Peer},
	"a reset in a reply": {func(p *workertest.H2Peer, s uint32) {
		_ = p.WriteData(s, false, raw(100)[:50])
		_ = p.WriteRSTStream(s, http2.ErrCodeCancel)
	}, contract.Peer},
}

// What a server does wrong on a stream counts once, by its kind, and the slot goes on with
// another stream. Where a whole reply came before, the next exchange has the error.
func TestGRPCStreamsThatFailAreCountedByKind(t *testing.T) {
	whole := func(p *workertest.H2Peer, s uint32) { _ = p.WriteData(s, false, raw(100)) }
	cases := map[string]struct {
		wrong answer
		kind  contract.ErrorKind
	}{
		"shorter":     {func(p *workertest.H2Peer, s uint32) { _ = p.WriteData(s, false, raw(99)) }, contract.Invalid},
		"longer":      {func(p *workertest.H2Peer, s uint32) { _ = p.WriteData(s, false, raw(101)) }, contract.Invalid},
		"two replies": {func(p *workertest.H2Peer, s uint32) { _ = p.WriteData(s, false, raws(100, 100)) }, contract.Invalid},
		"a byte more": {func(p *workertest.H2Peer, s uint32) {
			whole(p, s)
			_ = p.WriteData(s, false, []byte{0})
		}, contract.Invalid},
		"a reply and a status": {func(p *workertest.H2Peer, s uint32) {
			whole(p, s)
			p.Fields(s, true, "grpc-status", "14")
		}, contract.Peer},
		"a reply and an end": {func(p *workertest.H2Peer, s uint32) { _ = p.WriteData(s, true, raw(100)) }, contract.Invalid},
		"a reply and a reset": {func(p *workertest.H2Peer, s uint32) {
			whole(p, s)
			_ = p.WriteRSTStream(s, http2.ErrCodeNo)
		}, contract.Peer},
	}
	for name, c := range fails {
		cases[name] = c
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := drive(t, ours, contract.Setup{
				Peers:    []string{misbehavingGRPC(t, true, whole, c.wrong), misbehavingGRPC(t, true, whole, whole)},
				Exchange: blocks(10, 100), Load: contract.Load{Connections: 2, Amount: 6},
				Options: map[string]any{"mode": "stream", "codec": "raw", "verify": "length"},
			})
			if got.Errors[c.kind] != 1 || got.Exchanges != 5+6 || len(got.Errors) != 1 {
				t.Errorf("counts %+v, want 11 exchanges and one error of kind %s", got, c.kind)
			}
		})
	}
}

// The same of replies in chunks.
func TestGRPCChunksThatFailAreCountedByKind(t *testing.T) {
	sends := func(sizes ...int) answer {
		return func(p *workertest.H2Peer, s uint32) { _ = p.WriteData(s, false, raws(sizes...)) }
	}
	ended := func(sizes ...int) answer {
		return func(p *workertest.H2Peer, s uint32) {
			sends(sizes...)(p, s)
			p.Fields(s, true, "grpc-status", "0")
		}
	}
	cases := map[string]struct {
		wrong answer
		kind  contract.ErrorKind
	}{
		"a chunk too few":   {ended(40, 40), contract.Invalid},
		"a chunk too many":  {ended(40, 40, 20, 1), contract.Invalid},
		"an endless stream": {sends(40, 40, 40), contract.Invalid},
		"a chunk too large": {sends(40, 5<<10), contract.Invalid},
		"chunks and a status": {func(p *workertest.H2Peer, s uint32) {
			sends(40, 40, 20)(p, s)
			p.Fields(s, true, "grpc-status", "14")
		}, contract.Peer},
		"chunks and a reset": {func(p *workertest.H2Peer, s uint32) {
			sends(40, 40, 20)(p, s)
			_ = p.WriteRSTStream(s, http2.ErrCodeNo)
		}, contract.Peer},
	}
	for name, c := range fails {
		cases[name] = c
	}
	right := sends(40, 0, 40, 20)
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := drive(t, ours, contract.Setup{
				Peers:    []string{misbehavingGRPC(t, false, right, c.wrong), misbehavingGRPC(t, false, right, ended(40, 0, 40, 20))},
				Exchange: streamed(contract.StreamDown, 10, 100, 40), Load: contract.Load{Connections: 2, Amount: 6},
				Options: map[string]any{"codec": "raw", "verify": "length", "max_message": 4 << 10},
			})
			if got.Errors[c.kind] != 1 || got.Exchanges != 5+6 || len(got.Errors) != 1 {
				t.Errorf("counts %+v, want 11 exchanges and one error of kind %s", got, c.kind)
			}
		})
	}
}

// converse sends messages on a stream, ends it and returns the messages that came back.
func converse(t *testing.T, conn *grpc.ClientConn, method string, messages ...[]byte) (replies [][]byte, err error) {
	t.Helper()
	stream, err := conn.NewStream(t.Context(), &grpc.StreamDesc{ClientStreams: true, ServerStreams: true}, "/netdyno.v1.Exchange/"+method)
	if err != nil {
		return nil, err
	}
	for _, m := range messages {
		if err := stream.SendMsg(m); err != nil && !errors.Is(err, io.EOF) { // receiving says why
			return nil, err
		}
	}
	if err := stream.CloseSend(); err != nil {
		return nil, err
	}
	for {
		var reply []byte
		if err := stream.RecvMsg(&reply); errors.Is(err, io.EOF) {
			return replies, nil
		} else if err != nil {
			return replies, err
		}
		replies = append(replies, reply)
	}
}

// Whatever chunks a client sends, it is told what was wrong with them, and the server
// serves on.
func TestGRPCServersRefuseWrongChunks(t *testing.T) {
	notProtobuf := []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}
	for _, transport := range []string{ours, oursOnAsio, "grpcpp"} {
		for name, c := range map[string]struct {
			stream contract.Stream
			chunks [][]byte
			code   codes.Code
			says   string
		}{
			"a chunk too few":   {contract.StreamBoth, [][]byte{block(40), block(40)}, codes.InvalidArgument, "80 bytes, expected 100"},
			"a chunk too many":  {contract.StreamUp, [][]byte{block(40), block(40), block(40)}, codes.InvalidArgument, "more than the 100 bytes expected"},
			"no chunk":          {contract.StreamBoth, nil, codes.InvalidArgument, "0 bytes, expected 100"},
			"a chunk too large": {contract.StreamUp, [][]byte{block(5 << 20)}, codes.ResourceExhausted, "max"},
			"no Block":          {contract.StreamBoth, [][]byte{block(40), notProtobuf}, codes.Internal, "expected a netdyno.v1.Block"},
			"a request short":   {contract.StreamDown, [][]byte{block(99)}, codes.InvalidArgument, "99 bytes, expected 100"},
		} {
			t.Run(transport+"/"+name, func(t *testing.T) {
				t.Parallel()
				server := start(t, transport)
				ready := server.setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: streamed(c.stream, 100, 50, 20)})
				conn := dial(t, ready.Addresses[0])
				method := strings.ToUpper(string(c.stream[:1])) + string(c.stream[1:])
				if _, err := converse(t, conn, method, c.chunks...); status.Code(err) != c.code || !strings.Contains(status.Convert(err).Message(), c.says) {
					t.Errorf("%v, want %s that says %q", err, c.code, c.says)
				}
				good := [][]byte{block(100)}
				if c.stream != contract.StreamDown {
					good = [][]byte{block(60), nil, block(40)} // nil is an empty Block
				}
				if replies, err := converse(t, conn, method, good...); err != nil || len(replies) == 0 {
					t.Errorf("after that, a good request: %d messages, %v", len(replies), err)
				}
				if counts := server.mark(1, false).Counts; counts.Exchanges != 1 || counts.ReceivedBytes != 100 || counts.SentBytes != 50 {
					t.Errorf("the server counts %+v, want the good exchange", counts)
				}
			})
		}
	}
}

// A client may send many messages before it reads the first answer, and each is answered.
// A wrong one ends the stream after the answers to those before it.
func TestGRPCNghttp2ServerAnswersWhatIsSentAhead(t *testing.T) {
	t.Parallel()
	server := start(t, ours)
	ready := server.setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(100, 5000)})
	conn := dial(t, ready.Addresses[0])
	const many = 2000
	messages := make([][]byte, many)
	for i := range messages {
		messages[i] = block(100)
	}
	if replies, err := converse(t, conn, "Talk", messages...); err != nil || len(replies) != many {
		t.Errorf("%d replies, %v; want %d", len(replies), err, many)
	}
	replies, err := converse(t, conn, "Talk", block(100), block(100), block(99), block(100))
	if len(replies) != 2 || status.Code(err) != codes.InvalidArgument {
		t.Errorf("%d replies, then %v; want 2 and InvalidArgument", len(replies), err)
	}
	if replies, err := converse(t, conn, "Talk"); len(replies) != 0 || err != nil {
		t.Errorf("of a stream without a message %d replies, %v; want none and no error", len(replies), err)
	}
	if counts := server.mark(1, false).Counts; counts.Exchanges != many+2 || counts.ReceivedBytes != 100*(many+2) || counts.Errors[contract.Invalid] != 1 {
		t.Errorf("the server counts %+v, want %d exchanges and an error of kind invalid", counts, many+2)
	}
}
