package gogrpc

import (
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/load"
	"netdyno/internal/work/netdynov1"
	"netdyno/internal/work/worker/workertest"
)

// calledFor counts what a server of somebody else's was asked for.
type calledFor struct {
	mu    sync.Mutex
	asked map[string]int
}

func (c *calledFor) answer(_ any, stream grpc.ServerStream) error {
	var in emptypb.Empty // keeps what it does not know
	if err := stream.RecvMsg(&in); err != nil {
		return err
	}
	method, _ := grpc.MethodFromServerStream(stream)
	c.mu.Lock()
	c.asked[fmt.Sprintf("%s %d", method, proto.Size(&in))]++
	c.mu.Unlock()
	if strings.HasSuffix(method, "/Slow") {
		<-stream.Context().Done()
		return stream.Context().Err()
	}
	return stream.SendMsg(&netdynov1.Block{Content: make([]byte, 100)})
}

// clientOf prepares a client of a server of somebody else's with some classes.
func clientOf(t *testing.T, l contract.Load, options map[string]any) (*calledFor, load.Client, error) {
	t.Helper()
	c := &calledFor{asked: map[string]int{}}
	s := grpc.NewServer(grpc.UnknownServiceHandler(c.answer))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go s.Serve(listener)
	t.Cleanup(s.Stop)
	transport := Transport{Codecs: codec.Standard()}
	given := map[string]any{"verify": "status", "codec": "raw", "method": "/shop.Cart/List"}
	for name, value := range options {
		given[name] = value
	}
	l.Connections = 2
	client, err := transport.Client(contract.Setup{
		Role: contract.Client, Seed: 3, Peers: []string{listener.Addr().String()}, Load: l,
		Options:  workertest.WithDefaults(transport.Describe().Options, given),
		Exchange: contract.Exchange{UpBytes: 32, UpSizes: contract.Table{{contract.TableEnd, 0, 32}}},
	})
	return c, client, err
}

// A class calls its own method with its own message, and ends at its own deadline, after which
// its connection goes on.
func TestClassesCallTheirOwnMethods(t *testing.T) {
	message, err := proto.Marshal(&netdynov1.Block{Content: make([]byte, 30)})
	if err != nil {
		t.Fatal(err)
	}
	third := int64(contract.TableEnd / 100)
	c, client, err := clientOf(t, contract.Load{Classes: []contract.Class{
		{Name: "add", End: 60 * third, UpBytes: 32, Method: "/shop.Cart/Add"},
		{Name: "list", End: 95 * third, Method: "GET"}, // of HTTP
		{Name: "slow", End: contract.TableEnd, Method: "/shop.Cart/Slow", DeadlineNs: 2e6},
	}}, map[string]any{"bodies": base64.StdEncoding.EncodeToString(message) + "\n\n\n"})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	result := workertest.ResultOf(t, client, func(n contract.Counts) bool { return n.Exchanges >= 300 && n.Errors[contract.Timeout] >= 2 })
	for _, want := range []string{"/shop.Cart/Add 32", "/shop.Cart/List 0", "/shop.Cart/Slow 0"} {
		if c.asked[want] == 0 {
			t.Errorf("nobody called %q: %v", want, c.asked)
		}
	}
	if len(c.asked) != 3 {
		t.Errorf("called %v", c.asked)
	}
	for i, of := range result.Classes {
		if slow := i == 2; (of.Exchanges > 0) == slow || (of.Errors > 0) != slow {
			t.Errorf("class %s: %+v", of.Name, of)
		}
	}
	if add := result.Classes[0]; add.SentBytes != 32*add.Exchanges {
		t.Errorf("class add sent %d bytes in %d exchanges", add.SentBytes, add.Exchanges)
	}
	if result.Counts.Errors[contract.Timeout] != result.Classes[2].Errors || result.Reasons[0].Text != "no reply within the deadline of 2.00 ms" {
		t.Errorf("%+v, %+v", result.Counts.Errors, result.Reasons)
	}
}

func TestClassesThatCannotBeCalledAreRefused(t *testing.T) {
	class := func(change func(*contract.Class)) contract.Load {
		c := contract.Class{Name: "add", End: contract.TableEnd, UpBytes: 3}
		change(&c)
		return contract.Load{Classes: []contract.Class{c}}
	}
	for want, c := range map[string]struct {
		load    contract.Load
		options map[string]any
	}{
		"class add: method is":                 {class(func(c *contract.Class) { c.Method = "/Add" }), nil},
		"option mode is stream":                {class(func(c *contract.Class) { c.Method = "/shop.Cart/Add" }), map[string]any{"mode": "stream", "method": "/a.B/C"}},
		"option bodies needs codec=raw":        {class(func(*contract.Class) {}), map[string]any{"bodies": "AAAA\n", "codec": "proto", "verify": "length"}},
		"bodies: it has 2 lines":               {class(func(*contract.Class) {}), map[string]any{"bodies": "AAAA\n\n"}},
		"bodies: line 1 is no base64":          {class(func(*contract.Class) {}), map[string]any{"bodies": "?\n"}},
		"bodies: line 1 has 6 bytes and class": {class(func(*contract.Class) {}), map[string]any{"bodies": "AAAAAAAA\n"}},
	} {
		if _, _, err := clientOf(t, c.load, c.options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
