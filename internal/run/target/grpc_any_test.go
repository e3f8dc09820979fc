package target_test

import (
	"context"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	_ "google.golang.org/grpc/encoding/gzip" // the server's
	"google.golang.org/grpc/reflection"
	v1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"netdyno/internal/run/message"
	"netdyno/internal/run/target"
)

// anyProtos describe a service, and, in a file that the service's file does not import,
// the content of its requests.
var anyProtos = map[string]string{
	"api.proto": `syntax = "proto3"; package api; import "google/protobuf/any.proto";
message Request { google.protobuf.Any payload = 3; string how = 4; }
service Publisher { rpc Publish(Request) returns (Request); rpc Watch(Request) returns (stream Request); }`,
	"client.proto": `syntax = "proto3"; package test; import "google/protobuf/any.proto";
message Client { int32 client_id = 1; google.protobuf.Any inner = 2; }`,
	"all.proto": `syntax = "proto3"; import "api.proto"; import "client.proto";`,
}

// publisher is the service of anyProtos: it sends back its request, packed or as a
// status with details where that asks for it.
type publisher struct{}

func (publisher) GetServiceInfo() map[string]grpc.ServiceInfo {
	return map[string]grpc.ServiceInfo{"api.Publisher": {}}
}

func publish(_ any, stream grpc.ServerStream) error {
	request := new(emptypb.Empty) // keeps all fields as unknown ones
	if err := stream.RecvMsg(request); err != nil {
		return err
	}
	text, _ := protobuf.Marshal(request)
	switch {
	case strings.Contains(string(text), "pack"):
		if err := grpc.SetSendCompressor(stream.Context(), "gzip"); err != nil {
			return err
		}
	case strings.Contains(string(text), "wait"):
		<-stream.Context().Done() // the client's deadline
		return stream.Context().Err()
	case strings.Contains(string(text), "limit"):
		if _, ok := stream.Context().Deadline(); !ok {
			return status.Error(codes.InvalidArgument, "the call has no deadline")
		}
	}
	return stream.SendMsg(request)
}

// servePublisher starts the service and returns its address, and the directory of its
// .proto files.
func servePublisher(t *testing.T, reflects bool) (at, dir string) {
	t.Helper()
	dir = t.TempDir()
	for name, text := range anyProtos {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	_, files, err := message.Files(filepath.Join(dir, "all.proto"), os.ReadFile)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := grpc.NewServer(grpc.UnknownServiceHandler(publish))
	if reflects {
		v1.RegisterServerReflectionServer(s, reflection.NewServerV1(reflection.ServerOptions{Services: publisher{}, DescriptorResolver: files}))
	}
	go func() { _ = s.Serve(l) }() // ends with Stop
	t.Cleanup(s.Stop)
	return l.Addr().String(), dir
}

// The types of what an Any holds are those of the service's files, and of this program.
func TestTypesInsideAny(t *testing.T) {
	at, dir := servePublisher(t, true)
	url := "grpc://" + at + "/api.Publisher.Publish"
	const inner = `{"payload": {"@type": "type.googleapis.com/test.Client", "clientId": 7}}`
	wire := map[string]string{"opt.client.body": "GiUKH3R5cGUuZ29vZ2xlYXBpcy5jb20vdGVzdC5DbGllbnQSAggH", "request": "39B"}
	levels(t, target.Target{URL: url, Data: inner, Proto: filepath.Join(dir, "all.proto")}, wire)
	levels(t, target.Target{URL: url, Data: `{"payload": {"@type": "z/google.protobuf.Duration", "value": "1.5s"}}`}, nil)
	refused(t, target.Target{URL: url, Data: inner}, `reflection (v1) does not describe it; give a --proto FILE that imports it`)
}

// Replies that are packed, and calls with a deadline, are for the client that knows both.
func TestPackedRepliesAndDeadlines(t *testing.T) {
	at, _ := servePublisher(t, true)
	rings := func(_ string, _ bool, own string) string {
		if own != "" {
			return ""
		}
		return "grpc-nghttp2"
	}
	asked := target.Target{URL: "grpc://" + at + "/Publish", Client: rings}
	levels(t, asked, map[string]string{"client": "grpc-nghttp2", "opt.client.deadline": "", "opt.client.packed_replies": ""})
	asked.Data = `{"how": "pack` + strings.Repeat("e", 1000) + `d"}`
	f := levels(t, asked, map[string]string{"client": "go-grpc", "response": "1008B", "opt.client.packed_replies": "yes"})
	if !strings.Contains(f.Words, "1008 bytes of api.Request packed by gzip") {
		t.Errorf("words %q", f.Words)
	}
	asked.Data, asked.Headers = `{"how": "limit"}`, []string{"x-key: 1", "Grpc-Timeout: 20S"}
	f = levels(t, asked, map[string]string{"client": "go-grpc", "opt.client.deadline": "20s", "opt.client.headers": "x-key: 1"})
	if !strings.Contains(f.Words, "a deadline of 20s") {
		t.Errorf("words %q", f.Words)
	}
	asked.Data, asked.Headers = `{"how": "wait"}`, []string{"grpc-timeout: 50m"}
	refused(t, asked, "/api.Publisher/Publish did not answer within its deadline of 50ms (grpc-timeout)")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := target.Ask(ctx, asked); err == nil {
		t.Error("an inquiry that was stopped found a server")
	}
}
