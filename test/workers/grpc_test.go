package workers_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/netdynov1"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/shop"
)

// asking is a client of go-grpc for a server of somebody else's.
func asking(x contract.Exchange, l contract.Load, options map[string]any) trial {
	return trial{By: "go-grpc", Exchange: x, Load: l, Client: options}
}

// called has it make its calls.
func called(t *testing.T, p trial, address string) contract.Result {
	t.Helper()
	client := p.Dial(t, all, address)
	client.Start()
	return *client.Expect("result").Result
}

func TestCallsAreAsTheUserSays(t *testing.T) {
	address, order := shop.Serve(t, shop.Keeper), int64(len(shop.Order))
	for _, load := range []contract.Load{{Connections: 2, Amount: 20}, {Connections: 2, Amount: 2, Fresh: true}, {Connections: 1, InFlight: 3, Amount: 20}} {
		c := called(t, asking(blocks(order, 4), load, shop.Asked()), address).Counts
		if n := int64(load.Connections) * load.Amount; len(c.Errors) > 0 || c.ReceivedBytes != 4*n || c.SentBytes != order*n {
			t.Errorf("counts %+v of load %+v", c, load)
		}
	}
	one := contract.Load{Connections: 1}
	workertest.Says(t, "another length", asking(blocks(order, 5), one, shop.Asked()).Refused(t, all, address), "4 bytes, expected 5")
	workertest.Says(t, "no metadata", asking(blocks(order, 4), one, shop.Asked("headers", "")).Refused(t, all, address), "InvalidArgument")
	var calls atomic.Int64
	address = shop.Serve(t, func(stream grpc.ServerStream, _ string, _ []byte) error {
		return stream.SendMsg(make([]byte, calls.Add(1)%7))
	})
	c := called(t, asking(blocks(0, 1), contract.Load{Connections: 1, Amount: 14}, shop.Asked("verify", "status", "body", "")), address).Counts
	if c.Exchanges != 14 || c.ReceivedBytes != 2*21 {
		t.Errorf("counts %+v, want 14 replies of 42 bytes in all", c)
	}
	address = shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error { return stream.SendMsg(request) })
	called(t, asking(blocks(10, 10), contract.Load{Connections: 1, Amount: 1}, option("verify", "length")), address)
	workertest.Says(t, "content", asking(blocks(10, 10), one, nil).Refused(t, all, address), "CRC-32C")
	workertest.Says(t, "length", asking(blocks(11, 10), one, option("verify", "length")).Refused(t, all, address), "11 bytes, expected 10")
}

// A call carries the deadline that the user gave, and fails when it has passed.
func TestDeadlineOfACall(t *testing.T) {
	const deadline = 300 * time.Millisecond
	var calls atomic.Int64
	address := shop.Serve(t, func(stream grpc.ServerStream, _ string, _ []byte) error {
		if until, given := stream.Context().Deadline(); !given || time.Until(until) > deadline {
			return status.Error(codes.InvalidArgument, "no deadline")
		}
		if calls.Add(1) == 1 { // it verifies
			return stream.SendMsg(make([]byte, 4))
		}
		<-stream.Context().Done()
		return status.FromContextError(stream.Context().Err()).Err() // either end may be the first to see it
	})
	within := shop.Asked("body", "")
	within["deadline"] = int64(deadline)
	if r := called(t, asking(blocks(0, 4), contract.Load{Connections: 1, Amount: 2}, within), address); r.Counts.Errors[contract.Timeout] != 2 || r.Counts.Exchanges != 0 {
		t.Errorf("counts %+v, want two timeouts", r.Counts)
	}
	workertest.Says(t, "no deadline", asking(blocks(0, 4), contract.Load{Connections: 1}, shop.Asked("body", "")).Refused(t, all, address), "InvalidArgument: no deadline")
}

// An authority of the user's own, and a name in TLS beside another :authority.
func TestTrustIsAsTheUserSays(t *testing.T) {
	certificate := workertest.Certificate(t)
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte(certificate.Authorities), 0o600); err != nil {
		t.Fatal(err)
	}
	_, address := trial{Of: "go-grpc", Exchange: blocks(1, 1), TLS: certificate}.Listen(t, all)
	other := workertest.Certificate(t)
	for _, c := range []struct {
		options map[string]any
		fails   string
	}{
		{option("ca", ca, "host", "shop.example"), ""},
		{option("ca", ca, "sni", "shop.example"), "shop.example"},
		{option("ca", ca, "host", "shop.example", "sni", "127.0.0.1"), ""},
		{option("insecure", true), ""},
		{option("ca", "system"), "authority"},
		{nil, "authority"},
	} {
		p := asking(blocks(1, 1), contract.Load{Connections: 1}, c.options)
		p.TLS = &contract.TLS{Authorities: other.Authorities}
		if c.fails != "" {
			workertest.Says(t, fmt.Sprint(c.options), p.Refused(t, all, address), c.fails)
			continue
		}
		p.Dial(t, all, address)
	}
}

// What a server refuses is counted by its kind and taints the trial, which goes on.
func TestRefusalsOfGRPCAreCountedByKind(t *testing.T) {
	for code, kind := range map[codes.Code]contract.ErrorKind{
		codes.DeadlineExceeded: contract.Timeout, codes.ResourceExhausted: contract.Invalid, codes.Internal: contract.Invalid,
		codes.Unimplemented: contract.Invalid, codes.Unknown: contract.Invalid,
	} {
		for _, mode := range []string{"unary", "stream"} {
			var calls atomic.Int64
			address := shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error {
				if calls.Add(1) == 1 { // the verified exchange is answered
					return stream.SendMsg(request)
				}
				return status.Error(code, "not today")
			})
			p := asking(echoed(message("proto", "simple")), contract.Load{Connections: 1, Amount: 3}, option("mode", mode))
			r, want := called(t, p, address), []contract.Reason{{Kind: kind, Text: code.String() + ": not today", Count: 3}}
			if r.Counts.Exchanges != 0 || r.Counts.Errors[kind] != 3 || !slices.Equal(r.Reasons, want) {
				t.Errorf("%s, %s: counts %+v, reasons %+v; want %+v", code, mode, r.Counts, r.Reasons, want)
			}
		}
	}
}

// echoed has as its answer what was asked.
func echoed(x contract.Exchange) contract.Exchange {
	x.Message.Down = x.Message.Up
	return x
}

// grpc-go's own server ends every connection at an age (GOAWAY). A client goes on with
// another, and no call is lost or made twice.
func TestAServerOfGRPCThatLeavesConnections(t *testing.T) {
	for _, client := range []string{"go-grpc", "go-connect-grpc"} {
		for _, inFlight := range []int{1, 4} {
			t.Run(fmt.Sprintf("%s, %d in flight", client, inFlight), func(t *testing.T) {
				t.Parallel()
				p := trial{By: client, Exchange: blocks(10, 50), Load: contract.Load{Connections: 2, InFlight: inFlight, Amount: 300}}
				_, setup := p.Setups(all)
				content, err := codec.New(setup, codecs)
				if err != nil {
					t.Fatal(err)
				}
				_, down := content.Contents()
				reply, err := proto.Marshal(&netdynov1.Block{Content: down})
				if err != nil {
					t.Fatal(err)
				}
				var taken atomic.Int64
				address := shop.Serve(t, func(stream grpc.ServerStream, _ string, _ []byte) error {
					taken.Add(1)
					time.Sleep(time.Duration(inFlight) * 4 * time.Millisecond) // three ages in all
					return stream.SendMsg(reply)
				}, grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 400 * time.Millisecond}))
				client := p.Dial(t, all, address)
				verified := taken.Load()
				client.Start()
				r := client.Expect("result").Result
				if r.Counts.Exchanges != 600 || len(r.Counts.Errors) > 0 || r.Counts.Redialled == 0 || taken.Load() != 600+verified {
					t.Errorf("counts %+v, the server took %d; want 600 exchanges, and connections made again", r.Counts, taken.Load())
				}
			})
		}
	}
}

// A server that no longer answers must not hold up the end of the trial.
func TestSilentServerLeavesExchangesUnfinished(t *testing.T) {
	for _, mode := range []string{"unary", "stream"} {
		var calls atomic.Int64
		address := shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error {
			if calls.Add(1) > 1 {
				<-stream.Context().Done()
				return nil
			}
			return stream.SendMsg(request)
		})
		load := contract.Load{Connections: 1, InFlight: 3, DrainNs: int64(50 * time.Millisecond)}
		client := asking(echoed(message("proto", "simple")), load, option("mode", mode)).Dial(t, all, address)
		client.Start()
		client.Mark(1, true)
		for deadline := time.Now().Add(workertest.Timeout); calls.Load() < 1+3 && time.Now().Before(deadline); {
			time.Sleep(time.Millisecond)
		}
		if r := client.Stop(); r.Unfinished != 3 || r.Counts.Exchanges != 0 || len(r.Counts.Errors) > 0 {
			t.Errorf("%s: counts %+v with %d unfinished, want 3 unfinished and no errors", mode, r.Counts, r.Unfinished)
		}
	}
}

// grpcurl is a client that knows nothing but an address: it asks the reflection service for
// everything.
type grpcurl struct {
	t  *testing.T
	cc *grpc.ClientConn
}

func newGrpcurl(t *testing.T, address string) *grpcurl {
	t.Helper()
	cc, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cc.Close() })
	return &grpcurl{t, cc}
}

// method finds one by the reflection service.
func (c *grpcurl) method(service, name string) protoreflect.MethodDescriptor {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), workertest.Timeout)
	defer cancel()
	stream, err := v1.NewServerReflectionClient(c.cc).ServerReflectionInfo(ctx)
	if err == nil {
		err = stream.Send(&v1.ServerReflectionRequest{MessageRequest: &v1.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service}})
	}
	if err != nil {
		c.t.Fatal(err)
	}
	reply, err := stream.Recv()
	if err != nil || reply.GetErrorResponse() != nil {
		c.t.Fatal(err, reply.GetErrorResponse())
	}
	var set descriptorpb.FileDescriptorSet
	for _, data := range reply.GetFileDescriptorResponse().FileDescriptorProto {
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
	return d.(protoreflect.ServiceDescriptor).Methods().ByName(protoreflect.Name(name))
}

// invoke calls a method with a request given as JSON and returns a field of the reply.
func (c *grpcurl) invoke(service, name, request, field string) (protoreflect.Value, error) {
	c.t.Helper()
	m := c.method(service, name)
	up, down := dynamicpb.NewMessage(m.Input()), dynamicpb.NewMessage(m.Output())
	if err := protojson.Unmarshal([]byte(request), up); err != nil {
		c.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(c.t.Context(), workertest.Timeout)
	defer cancel()
	err := c.cc.Invoke(ctx, fmt.Sprintf("/%s/%s", service, name), up, down)
	return down.Get(down.Descriptor().Fields().ByName(protoreflect.Name(field))), err
}

// A codec that the trial forces on the server must not reach the reflection service, and what
// the trial does not serve is refused in words.
func TestGrpcurlCallsByReflection(t *testing.T) {
	const exchange = "netdyno.v1.Exchange"
	server, address := trial{Of: "go-grpc", Exchange: message("proto", "simple")}.Listen(t, all)
	if got, err := newGrpcurl(t, address).invoke(exchange, "Simple", `{"text":"from the outside"}`, "text"); err != nil || got.String() != workertest.Answer {
		t.Errorf("reply %q, %v, want the trial's", got, err)
	}
	if counts := server.Settled(contract.Counts{}, 1); counts.Exchanges != 1 || counts.Connections != 1 {
		t.Errorf("counts %+v, want one exchange on one connection", counts)
	}
	for name, p := range map[string]trial{
		"bytes": {Exchange: blocks(3, 3)}, "raw": {Exchange: blocks(3, 3), Server: option("codec", "raw")},
		"json": {Exchange: message("json", "complex")}, "tiered": {Exchange: blocks(3, 3), Server: option("buffer_pool", "tiered")},
	} {
		p.Of = "go-grpc"
		_, address := p.Listen(t, all)
		_, err := newGrpcurl(t, address).invoke(exchange, "Simple", `{}`, "text")
		workertest.Says(t, name, err, "Unimplemented", "/netdyno.v1.Exchange/Simple", "expected")
	}
	_, address = trial{Of: "go-grpc", Exchange: blocks(3, 5)}.Listen(t, all)
	if got, err := newGrpcurl(t, address).invoke(exchange, "Unary", `{"content":"AQID"}`, "content"); err != nil || len(got.Bytes()) != 5 {
		t.Errorf("reply of %d bytes, want 5, %v", len(got.Bytes()), err)
	}
	_, err := newGrpcurl(t, address).invoke(exchange, "Unary", `{"content":"AQIDBA=="}`, "content")
	workertest.Says(t, "a request of 4 bytes", err, "InvalidArgument", "4 bytes, expected 3")
}

// order is a message of a user's own service.
func order(t *testing.T, codec string) contract.Exchange {
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
	content := contract.Content{Type: "shop.v1.Order", JSON: `{"item":"tea","pieces":3}`}
	return contract.Exchange{Codec: codec, Message: &contract.Structure{Name: "order", Descriptors: data, Up: content, Down: content}}
}

// A message and a service of the user's own, by default names and by theirs.
func TestMessagesOfTheUsersOwn(t *testing.T) {
	for _, of := range []string{"go-grpc", "go-connect", "go-connect-grpc"} {
		for _, codec := range []string{"proto", "json"} {
			for _, method := range []string{"/netdyno.v1.Exchange/Own", "/shop.v1.Shop/Buy"} {
				for _, mode := range []string{"unary", "stream"} {
					options := option("method", method)
					if of == "go-grpc" {
						options["mode"] = mode
					} else if mode == "stream" {
						continue
					}
					trial{Of: of, By: of, Exchange: order(t, codec), Load: contract.Load{Connections: 1}, Server: options, Client: options}.Amount(t, all, 4)
				}
			}
		}
	}
	_, address := trial{Of: "go-grpc", Exchange: order(t, "proto"), Server: option("method", "/shop.v1.Shop/Buy")}.Listen(t, all)
	if got, err := newGrpcurl(t, address).invoke("shop.v1.Shop", "Buy", `{"item":"milk"}`, "pieces"); err != nil || got.Int() != 3 {
		t.Errorf("reply %v, %v; want the trial's order", got, err)
	}
}
