package foreign_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"

	"netdyno/internal/contract"
)

const service = "netdyno.v1.Exchange"

// A client that has nothing of ours, no generated code and no .proto, finds out
// by reflection what the server does and calls it, as grpcurl does.
func TestReflectionClient(t *testing.T) {
	need(t, nil, "go-grpc")
	s := listen(t, "transport=go-grpc", "request=100B", "response=4MiB")
	conn := dial(t, s.address)
	unary := find(t, conn, service).Methods().ByName("Unary")
	if unary == nil {
		t.Fatal("the service has no method Unary")
	}
	demandBlock(t, conn, unary)
	s.counted(blocks, 0) // it counts before it replies

	t.Run("go-connect-grpc", func(t *testing.T) { // has no reflection
		need(t, nil, "go-connect-grpc")
		s := listen(t, "transport=go-connect-grpc", "request=100B", "response=4MiB")
		demandBlock(t, dial(t, s.address), unary)
		s.counted(blocks, 1)
	})
}

const blocks = 3 // that demandBlock asks for

// demandBlock demands a block for each request of 100 bytes and an error that says
// what is wrong for one of 99.
func demandBlock(t *testing.T, conn *grpc.ClientConn, unary protoreflect.MethodDescriptor) {
	t.Helper()
	for range blocks {
		if got, err := invoke(t, conn, unary, make([]byte, 100)); err != nil || len(got) != block {
			t.Errorf("the reply has %d bytes (%v), want %d", len(got), err, block)
		}
	}
	_, err := invoke(t, conn, unary, make([]byte, 99))
	if status.Code(err) != codes.InvalidArgument || !strings.Contains(err.Error(), "has 99 bytes, expected 100") {
		t.Errorf("a request of another size: %v, want an invalid argument that says so", err)
	}
}

func dial(t *testing.T, address string) *grpc.ClientConn {
	t.Helper()
	conn, err := grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(block+1000)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

// find asks the server's reflection for its services, and for one's descriptor.
func find(t *testing.T, conn *grpc.ClientConn, name string) protoreflect.ServiceDescriptor {
	t.Helper()
	stream, err := reflection.NewServerReflectionClient(conn).ServerReflectionInfo(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	reflect := func(r *reflection.ServerReflectionRequest) *reflection.ServerReflectionResponse {
		if err := stream.Send(r); err != nil {
			t.Fatal(err)
		}
		reply, err := stream.Recv()
		if err != nil {
			t.Fatal(err)
		}
		return reply
	}
	var names []string
	list := reflect(&reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_ListServices{}})
	for _, s := range list.GetListServicesResponse().GetService() {
		names = append(names, s.GetName())
	}
	if !slices.Contains(names, name) {
		t.Fatalf("the server lists %q, want %s among them", names, name)
	}
	files := &descriptorpb.FileDescriptorSet{}
	found := reflect(&reflection.ServerReflectionRequest{MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: name}})
	for _, text := range found.GetFileDescriptorResponse().GetFileDescriptorProto() {
		file := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(text, file); err != nil {
			t.Fatal(err)
		}
		files.File = append(files.File, file)
	}
	registry, err := protodesc.NewFiles(files)
	if err != nil {
		t.Fatal(err)
	}
	d, err := registry.FindDescriptorByName(protoreflect.FullName(name))
	if err != nil {
		t.Fatal(err)
	}
	return d.(protoreflect.ServiceDescriptor)
}

// invoke calls a method whose messages have a field content and returns that of
// the reply.
func invoke(t *testing.T, conn *grpc.ClientConn, method protoreflect.MethodDescriptor, content []byte) ([]byte, error) {
	t.Helper()
	request, reply := dynamicpb.NewMessage(method.Input()), dynamicpb.NewMessage(method.Output())
	request.Set(method.Input().Fields().ByName("content"), protoreflect.ValueOfBytes(content))
	err := conn.Invoke(t.Context(), "/"+string(method.Parent().FullName())+"/"+string(method.Name()), request, reply)
	return reply.Get(method.Output().Fields().ByName("content")).Bytes(), err
}

// bytesCodec hands messages through as they are, so that an echo needs no types.
type bytesCodec struct{}

func (bytesCodec) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (bytesCodec) Unmarshal(data []byte, v any) error { *v.(*[]byte) = slices.Clone(data); return nil }
func (bytesCodec) Name() string                       { return "proto" }

// A gRPC echo of the user's, in a service of the user's, is driven with the
// user's own message.
func TestOwnGRPCEcho(t *testing.T) {
	need(t, nil, "address", "go-grpc")
	server := grpc.NewServer(grpc.ForceServerCodec(bytesCodec{}))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "shop.Echo", HandlerType: (*any)(nil),
		Methods: []grpc.MethodDesc{{MethodName: "Say", Handler: func(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
			var message []byte
			return &message, decode(&message)
		}}},
	}, nil)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go server.Serve(l)
	defer server.Stop()

	directory := t.TempDir()
	for name, text := range map[string]string{
		"order.proto": "syntax = \"proto3\";\npackage shop;\nmessage Order { int64 id = 1; repeated string items = 2; }\n",
		"order.json":  `{"id": 7, "items": ["tea", "milk"]}`,
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := []string{
		"server=address", "opt.server.address=" + l.Addr().String(), "opt.server.wire=grpc:netdyno.v1", "client=go-grpc",
		"codec=proto", "message=" + filepath.Join(directory, "order.proto") + ":shop.Order:" + filepath.Join(directory, "order.json"), "amount=20",
	}
	completed(t, trial(t, append(args, "opt.client.method=/shop.Echo/Say")...), 40)
	failed(t, trial(t, append(args, "opt.client.method=/shop.Echo/Shout")...), contract.Invalid, "unknown method Shout for service shop.Echo")
}

// On a stream that stays open a request is a message: as many as a server took, not as many
// as the streams it had.
func TestAServerTookTheMessagesOfStreams(t *testing.T) {
	for _, client := range []string{"go-grpc", "grpc-nghttp2", "grpcpp"} {
		t.Run(client, func(t *testing.T) {
			need(t, nil, "address", client)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			var streams, messages atomic.Int64
			server := grpc.NewServer(grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
				streams.Add(1)
				for {
					var message []byte
					if err := stream.RecvMsg(&message); err != nil {
						return nil // the client has ended it
					}
					messages.Add(1)
					if err := stream.SendMsg(&message); err != nil {
						return err
					}
				}
			}))
			t.Cleanup(server.Stop)
			go func() { _ = server.Serve(l) }()
			r := trial(t, "client="+client, "server=address", "opt.server.wire=grpc:netdyno.v1", "opt.server.address="+l.Addr().String(),
				"opt.client.mode=stream", "opt.client.verify=length", "request=5B", "response=5B", "inflight=3", "amount=51")
			completed(t, r, 102)
			account(t, r, messages.Load(), false)
			if n := streams.Load(); n < 6 || n > 8 { // one for each slot, and for a verified exchange perhaps
				t.Errorf("the server had %d streams, want 6 to 8", n)
			}
		})
	}
}
