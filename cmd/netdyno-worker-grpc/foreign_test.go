package main

import (
	"context"
	"fmt"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/shop"
)

// curl is a client that knows nothing but an address, as grpcurl does: it asks
// the reflection service for everything.
type curl struct {
	t  *testing.T
	cc *grpc.ClientConn
}

func newCurl(t *testing.T, address string) *curl {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return &curl{t, cc}
}

// ask makes requests of the reflection service on one stream.
func (c *curl) ask(requests ...*v1.ServerReflectionRequest) []*v1.ServerReflectionResponse {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), workertest.Timeout)
	defer cancel()
	stream, err := v1.NewServerReflectionClient(c.cc).ServerReflectionInfo(ctx)
	if err != nil {
		c.t.Fatal(err)
	}
	var replies []*v1.ServerReflectionResponse
	for _, r := range requests {
		if err := stream.Send(r); err != nil {
			c.t.Fatal(err)
		}
		reply, err := stream.Recv()
		if err != nil {
			c.t.Fatal(err)
		}
		if failed := reply.GetErrorResponse(); failed != nil {
			c.t.Fatalf("%v: %s", r, failed.ErrorMessage)
		}
		replies = append(replies, reply)
	}
	return replies
}

func (c *curl) services() map[string]bool {
	c.t.Helper()
	names := map[string]bool{}
	for _, s := range c.ask(&v1.ServerReflectionRequest{MessageRequest: &v1.ServerReflectionRequest_ListServices{}})[0].GetListServicesResponse().Service {
		names[s.Name] = true
	}
	return names
}

func (c *curl) method(service, name string) protoreflect.MethodDescriptor {
	c.t.Helper()
	asked := &v1.ServerReflectionRequest{MessageRequest: &v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service}}
	var set descriptorpb.FileDescriptorSet
	for _, data := range c.ask(asked)[0].GetFileDescriptorResponse().FileDescriptorProto {
		var file descriptorpb.FileDescriptorProto
		if err := proto.Unmarshal(data, &file); err != nil {
			c.t.Fatal(err)
		}
		set.File = append(set.File, &file)
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		c.t.Fatal(err)
	}
	d, err := files.FindDescriptorByName(protoreflect.FullName(service))
	if err != nil {
		c.t.Fatal(err)
	}
	m := d.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(name))
	if m == nil {
		c.t.Fatalf("service %s has no method %s", service, name)
	}
	return m
}

// invoke calls a method with a request given as JSON and returns the reply.
func (c *curl) invoke(service, name, request string) (protoreflect.Message, error) {
	c.t.Helper()
	m := c.method(service, name)
	up, down := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
	if err := protojson.Unmarshal([]byte(request), up); err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), workertest.Timeout)
	defer cancel()
	err := c.cc.Invoke(ctx, fmt.Sprintf("/%s/%s", service, name), up, down)
	return down.ProtoReflect(), err
}

const exchange = "netdyno.v1.Exchange"

func TestGrpcurlCallsSimple(t *testing.T) {
	t.Parallel()
	server, address := trial{Exchange: message("proto", "simple")}.Listen(t, transports)
	c := newCurl(t, address)
	if names := c.services(); !names[exchange] {
		t.Errorf("services %v lack %s", names, exchange)
	}
	reply, err := c.invoke(exchange, "Simple", `{"text":"from the outside"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := reply.Get(reply.Descriptor().Fields().ByName("text")).String(); got != workertest.Answer {
		t.Errorf("reply %q, want the trial's", got)
	}
	if counts := server.Settled(contract.Counts{}, 1); counts.Exchanges != 1 || counts.Connections != 1 {
		t.Errorf("counts %+v, want one exchange on one connection", counts)
	}
}

// A codec that the trial forces on the server must not reach the reflection
// service, and what the trial does not serve is refused in words.
func TestReflectionWorksWithEveryCodec(t *testing.T) {
	t.Parallel()
	for name, p := range map[string]trial{
		"bytes": {Exchange: blocks(3, 3)}, "raw": {Exchange: blocks(3, 3), Server: map[string]any{"codec": "raw"}},
		"json": {Exchange: message("json", "complex")}, "tiered": {Exchange: blocks(3, 3), Server: map[string]any{"buffer_pool": "tiered"}},
	} {
		_, address := p.Listen(t, transports)
		c := newCurl(t, address)
		if names := c.services(); !names[exchange] {
			t.Errorf("%s: services %v lack %s", name, names, exchange)
		}
		_, err := c.invoke(exchange, "Simple", `{}`)
		workertest.Says(t, name, err, "Unimplemented", "/netdyno.v1.Exchange/Simple", "expected")
	}
	_, address := trial{Exchange: blocks(3, 5)}.Listen(t, transports)
	reply, err := newCurl(t, address).invoke(exchange, "Unary", `{"content":"AQID"}`)
	if err != nil {
		t.Fatal(err)
	}
	if got := reply.Get(reply.Descriptor().Fields().ByName("content")).Bytes(); len(got) != 5 {
		t.Errorf("reply of %d bytes, want 5", len(got))
	}
	_, err = newCurl(t, address).invoke(exchange, "Unary", `{"content":"AQIDBA=="}`)
	workertest.Says(t, "a request of 4 bytes", err, "InvalidArgument", "4 bytes, expected 3")
}

// described is the service of a user's own.
func described(t *testing.T) []byte {
	t.Helper()
	text, number := descriptorpb.FieldDescriptorProto_TYPE_STRING.Enum(), descriptorpb.FieldDescriptorProto_TYPE_INT32.Enum()
	set := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{{
		Name: proto.String("shop.proto"), Package: proto.String("shop.v1"), Syntax: proto.String("proto3"),
		MessageType: []*descriptorpb.DescriptorProto{{Name: proto.String("Order"), Field: []*descriptorpb.FieldDescriptorProto{
			{Name: proto.String("item"), JsonName: proto.String("item"), Number: proto.Int32(1), Type: text},
			{Name: proto.String("pieces"), JsonName: proto.String("pieces"), Number: proto.Int32(2), Type: number},
		}}},
		Service: []*descriptorpb.ServiceDescriptorProto{{Name: proto.String("Shop"), Method: []*descriptorpb.MethodDescriptorProto{
			{Name: proto.String("Buy"), InputType: proto.String(".shop.v1.Order"), OutputType: proto.String(".shop.v1.Order")},
		}}},
	}}}
	data, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func order(t *testing.T, codec string) contract.Exchange {
	t.Helper()
	content := contract.Content{Type: "shop.v1.Order", JSON: `{"item":"tea","pieces":3}`}
	return contract.Exchange{Codec: codec, Message: &contract.Structure{Name: "order", Descriptors: described(t), Up: content, Down: content}}
}

// A message and a service of the user's own, by default names and by theirs.
func TestMessagesOfTheUsersOwn(t *testing.T) {
	t.Parallel()
	for _, codec := range []string{"proto", "json"} {
		for _, mode := range []string{"unary", "stream"} {
			for _, method := range []string{"/netdyno.v1.Exchange/Own", "/netdyno.v1.Exchange/Mine", "/shop.v1.Shop/Buy"} {
				options := map[string]any{"mode": mode, "method": method}
				p := trial{Exchange: order(t, codec), Load: contract.Load{Connections: 1, InFlight: 2}, Server: options, Client: options}
				p.Amount(t, transports, 4)
			}
		}
	}
	_, address := trial{Exchange: order(t, "proto"), Server: map[string]any{"method": "/shop.v1.Shop/Buy"}}.Listen(t, transports)
	reply, err := newCurl(t, address).invoke("shop.v1.Shop", "Buy", `{"item":"milk"}`)
	if err != nil || reply.Get(reply.Descriptor().Fields().ByName("pieces")).Int() != 3 {
		t.Errorf("reply %v, %v; want the trial's order", reply, err)
	}
}

// A gRPC echo of a user's own is driven like any server of the wire.
func TestForeignServerIsDriven(t *testing.T) {
	t.Parallel()
	address := shop.Serve(t, func(stream grpc.ServerStream, method string, request []byte) error {
		if method != "/shop.v1.Shop/Buy" {
			return fmt.Errorf("called %s", method)
		}
		return stream.SendMsg(request)
	})
	p := trial{Exchange: order(t, "proto"), Load: contract.Load{Connections: 2, Amount: 5}, Client: map[string]any{"method": "/shop.v1.Shop/Buy"}}
	_, setup := p.Setups(transports)
	setup.Peers = []string{address}
	client := workertest.Start(t, transports...)
	if ready := client.Setup(setup); ready.Verified != 2 || ready.UpBytes != 7 || ready.DownBytes != 7 {
		t.Errorf("ready %+v, want two verified connections and orders of 7 bytes", ready)
	}
	client.Start()
	if r := client.Expect("result").Result; r.Counts.Exchanges != 10 || r.Counts.ReceivedBytes != 70 {
		t.Errorf("counts %+v, want ten exchanges of 7 bytes", r.Counts)
	}
}

// A server that no longer answers must not hold up the end of the trial.
func TestSilentServerLeavesExchangesUnfinished(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"unary", "stream"} {
		verified := make(chan struct{})
		address := shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error {
			select {
			case <-verified:
				<-stream.Context().Done()
				return nil
			default:
				close(verified)
				return stream.SendMsg(request)
			}
		})
		p := trial{Exchange: message("proto", "simple"), Load: contract.Load{Connections: 1, InFlight: 3, DrainNs: int64(50 * time.Millisecond)}}
		p.Exchange.Message.Down = p.Exchange.Message.Up // an echo
		p.Client = map[string]any{"mode": mode}
		client := p.Dial(t, transports, address)
		client.Start()
		client.Mark(1, true)
		time.Sleep(20 * time.Millisecond)
		if r := client.Stop(); r.Unfinished != 3 || r.Counts.Exchanges != 0 || len(r.Counts.Errors) > 0 {
			t.Errorf("%s: counts %+v with %d unfinished, want 3 unfinished and no errors", mode, r.Counts, r.Unfinished)
		}
		client.End()
	}
}
