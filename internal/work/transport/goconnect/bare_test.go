package goconnect

import (
	"context"
	"net/http"
	"net/http/httptest"
	"runtime/debug"
	"testing"

	"connectrpc.com/connect"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/netdynov1"
	"netdyno/internal/work/worker/workertest"
)

// serve starts a server of ours.
func serve(t *testing.T, of Transport, setup contract.Setup) (*server, string) {
	t.Helper()
	s := workertest.Server(t, of, setup)
	return s.(*server), s.Ready().Addresses[0]
}

// dialTo opens a client of ours with one connection and no load.
func dialTo(t *testing.T, of Transport, setup contract.Setup, address string) *client {
	t.Helper()
	c, err := of.client(workertest.ClientSetup(t, of, setup, address))
	if err != nil {
		t.Fatal(err)
	}
	workertest.Open(t, c)
	return c
}

const (
	complicated = "/netdyno.v1.Exchange/Complex"
	unary       = "/netdyno.v1.Exchange/Unary"
)

func texts() contract.Setup {
	return contract.Setup{Exchange: contract.Exchange{Codec: "proto", Message: &contract.Structure{
		Name: "complex",
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"hello"}`},
		Down: contract.Content{Type: "netdyno.v1.Reply", JSON: workertest.Reply("one", "two", "three")},
	}}}
}

// bareClient is connect's own client for generated messages, on a connection
// of its own.
func bareClient[Req, Res any](t *testing.T, of Transport, url string, message *Req) func() {
	t.Helper()
	transport := &http.Transport{Protocols: of.protocols(), MaxConnsPerHost: 1}
	t.Cleanup(transport.CloseIdleConnections)
	var options []connect.ClientOption
	if of.GRPC {
		options = append(options, connect.WithGRPC())
	}
	c := connect.NewClient[Req, Res](&http.Client{Transport: transport}, url, options...)
	return func() {
		if _, err := c.CallUnary(context.Background(), connect.NewRequest(message)); err != nil {
			t.Fatal(err)
		}
	}
}

// bareServer is connect's own server of generated messages.
func bareServer[Req, Res any](t *testing.T, of Transport, procedure string, reply *Res) string {
	t.Helper()
	handler := connect.NewUnaryHandler(procedure, func(context.Context, *connect.Request[Req]) (*connect.Response[Res], error) {
		return connect.NewResponse(reply), nil
	})
	mux := http.NewServeMux()
	mux.Handle(procedure, handler)
	s := httptest.NewUnstartedServer(mux)
	s.Config.Protocols = of.protocols()
	s.Start()
	t.Cleanup(s.Close)
	return s.URL
}

// allocations counts those of a call, of both ends. A server's goroutine may
// still be at the last call's when the count is taken, and a pool be refilled:
// the least of a few counts is what the call itself needs.
func allocations(call func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // pools keep what they have
	least := testing.AllocsPerRun(300, call)
	for range 4 {
		least = min(least, testing.AllocsPerRun(300, call))
	}
	return least
}

func ours(t *testing.T, c *client) func() {
	call := c.call(0, new(load.Slot))
	return func() {
		if _, err := call(); err != nil {
			t.Fatal(err)
		}
	}
}

// Neither end adds an allocation to those of connect with generated code.
func TestNoAllocationIsAdded(t *testing.T) {
	workertest.CountsAllocations(t)
	for _, of := range []Transport{{Codecs: codec.Standard()}, {Codecs: codec.Standard(), GRPC: true}} {
		t.Run(of.Describe().Name+"/proto", func(t *testing.T) {
			_, address := serve(t, of, texts())
			bare := bareServer[netdynov1.Text](t, of, complicated, &netdynov1.Reply{ReplyValue1: "one", ReplyValue2: "two", ReplyValue3: "three"})
			text := &netdynov1.Text{Text: "hello"}
			compare(t,
				ours(t, dialTo(t, of, texts(), address)),
				bareClient[netdynov1.Text, netdynov1.Reply](t, of, "http://"+address+complicated, text),
				bareClient[netdynov1.Text, netdynov1.Reply](t, of, bare+complicated, text))
		})
		t.Run(of.Describe().Name+"/bytes", func(t *testing.T) {
			setup := contract.Setup{Exchange: contract.Exchange{UpBytes: 100, DownBytes: 1000}}
			s, address := serve(t, of, setup)
			sent, reply := s.content.Contents()
			bare := bareServer[block](t, of, unary, &block{Content: reply})
			request := &block{Content: sent}
			compare(t,
				ours(t, dialTo(t, of, setup, address)),
				bareClient[block, block](t, of, "http://"+address+unary, request),
				bareClient[block, block](t, of, bare+unary, request))
		})
	}
}

// background is what the process may allocate beside a call on a busy machine,
// averaged over the calls: whole objects are counted, so one may appear.
const background = 1

func compare(t *testing.T, ours, ourServer, bare func()) {
	t.Helper()
	both, half, none := allocations(ours), allocations(ourServer), allocations(bare)
	t.Logf("allocations per exchange: ours %v, bare client with our server %v, bare %v", both, half, none)
	if half > none+background {
		t.Errorf("our server takes %v allocations, connect's %v", half, none)
	}
	if both > half+background {
		t.Errorf("our client takes %v allocations, connect's %v", both, half)
	}
}
