package native_test

import (
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"

	"netdyno/internal/contract"
	"netdyno/test/shop"
)

func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(shop.Verbatim{})))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // nothing is lost by it
	return conn
}

// block is a netdyno.v1.Block with a content of n bytes.
func block(n int) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), make([]byte, n))
}

// Whatever a client sends, it is told what was wrong with it, by the statuses of
// docs/wires.md, and the server serves on.
func TestGRPCServerRefusesWhatIsWrong(t *testing.T) {
	t.Parallel()
	server := start(t, "grpcpp")
	ready := server.setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(100, 50)})
	conn := dial(t, ready.Addresses[0])
	notProtobuf := []byte{0x0a, 0xff, 0xff, 0xff, 0xff, 0x0f}
	for name, c := range map[string]struct {
		method  string
		request []byte
		code    codes.Code
		says    string
	}{
		"another size": {"Unary", block(99), codes.InvalidArgument, "has 99 bytes, expected 100"},
		"no message":   {"Unary", notProtobuf, codes.Internal, "expected a netdyno.v1.Block"},
		"too large":    {"Unary", block(5 << 20), codes.ResourceExhausted, "larger than max"},
		"not served":   {"Simple", nil, codes.Unimplemented, "expected /netdyno.v1.Exchange/Unary"},
		"no method":    {"../etc", nil, codes.Unimplemented, "does not serve this trial of codec bytes"},
	} {
		if err := ask(t, conn, c.method, c.request); status.Code(err) != c.code || !strings.Contains(status.Convert(err).Message(), c.says) {
			t.Errorf("%s: %v, want %s that says %q", name, err, c.code, c.says)
		}
	}
	if err := ask(t, conn, "Unary", block(100)); err != nil {
		t.Errorf("after all that, a good request: %v", err)
	}
	if counts := server.counted(1); counts.Exchanges != 1 || counts.Errors[contract.Invalid] == 0 {
		t.Errorf("the server counts %+v, want the good exchange and errors of kind invalid", counts)
	}
}

// ask sends one request and returns what came of it; a reply has 50 bytes.
func ask(t *testing.T, conn *grpc.ClientConn, method string, request []byte) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	var reply []byte
	if err := conn.Invoke(ctx, "/netdyno.v1.Exchange/"+method, request, &reply); err != nil {
		return err
	}
	if len(reply) != len(block(50)) {
		t.Errorf("the reply has %d bytes, want %d", len(reply), len(block(50)))
	}
	return nil
}

// relay passes connections on to a server, and can break them.
type relay struct {
	net.Listener
	mu     sync.Mutex
	passed []net.Conn
}

func newRelay(t *testing.T, to string) *relay {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{Listener: l}
	t.Cleanup(func() {
		_ = l.Close() // ends the accepting
		r.breakAll(0)
	})
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := net.Dial("tcp", to)
			if err != nil {
				_ = client.Close()
				continue
			}
			r.mu.Lock()
			r.passed = append(r.passed, client, server)
			r.mu.Unlock()
			go pass(client, server)
			go pass(server, client)
		}
	}()
	return r
}

func pass(from, to net.Conn) {
	_, _ = io.Copy(to, from) // it ends when either is broken
	_ = to.Close()
}

// breakAll breaks every connection but the first that are to stay.
func (r *relay) breakAll(but int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.passed[min(2*but, len(r.passed)):] {
		_ = c.Close()
	}
}

// The library would connect again silently, and may even begin to: a connection
// that breaks under the load stays broken, although its server could be reached
// again, and nothing that comes on another one counts.
func TestGRPCClientDoesNotReconnect(t *testing.T) {
	for mode, options := range modes(blocks(100, 100), "grpcpp") {
		for name, stay := range map[string]int{"one stays": 1, "none stays": 0} {
			t.Run(mode+", "+name, func(t *testing.T) {
				t.Parallel()
				s, c := trial{exchange: blocks(100, 100), load: contract.Load{Connections: 4, InFlight: 3}, options: options}.setups()
				relay := newRelay(t, start(t, "grpcpp").setup(s).Addresses[0])
				client := start(t, "grpcpp") // and ended before the relay is
				c.Peers = []string{relay.Addr().String()}
				client.setup(c)
				client.send(contract.Message{Start: &contract.Start{}})
				time.Sleep(50 * time.Millisecond)
				relay.breakAll(stay)
				if stay == 0 {
					client.fatal(contract.Peer)
					return
				}
				// Three connections with three exchanges in flight each.
				client.awaitLosses(9, 1)
			})
		}
	}
}

// awaitLosses waits until the end has as many connections left, stops it, and compares how
// many errors of kind peer it has counted then.
func (e *end) awaitLosses(errors, connections int64) {
	e.t.Helper()
	var got contract.Counts
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if got = e.mark(7, false).Counts; got.Connections == connections && got.Errors[contract.Peer] >= errors {
			break
		}
	}
	e.send(contract.Message{Stop: &contract.Stop{}})
	e.expect("result")
	if got = e.mark(8, false).Counts; got.Connections != connections || got.Errors[contract.Peer] != errors {
		e.t.Errorf("%s counts %+v, want %d errors of kind peer and %d connections left", e.name, got, errors, connections)
	}
}
