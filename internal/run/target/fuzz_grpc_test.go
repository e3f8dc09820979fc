package target_test

import (
	"bytes"
	"fmt"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	reflectv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	protobuf "google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"netdyno/internal/run/target"
)

// raw is a codec for a server whose messages are bytes.
type raw struct{}

func (raw) Name() string { return "raw" }

func (raw) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

func (raw) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

// described is what reflection says of a service: the list, and its files.
func described(f testing.TB) (list, files []byte) {
	f.Helper()
	set := &reflectv1.FileDescriptorResponse{}
	for _, file := range []protobuf.Message{
		protodesc.ToFileDescriptorProto(pb.File_grpc_testing_test_proto), protodesc.ToFileDescriptorProto(pb.File_grpc_testing_messages_proto), protodesc.ToFileDescriptorProto(pb.File_grpc_testing_empty_proto),
	} {
		text, err := protobuf.Marshal(file)
		if err != nil {
			f.Fatal(err)
		}
		set.FileDescriptorProto = append(set.FileDescriptorProto, text)
	}
	var out [2][]byte
	for i, reply := range []*reflectv1.ServerReflectionResponse{
		{MessageResponse: &reflectv1.ServerReflectionResponse_ListServicesResponse{ListServicesResponse: &reflectv1.ListServiceResponse{Service: []*reflectv1.ServiceResponse{{Name: "grpc.testing.TestService"}}}}},
		{MessageResponse: &reflectv1.ServerReflectionResponse_FileDescriptorResponse{FileDescriptorResponse: set}},
	} {
		var err error
		if out[i], err = protobuf.Marshal(reply); err != nil {
			f.Fatal(err)
		}
	}
	return out[0], out[1]
}

// script is what a server of gRPC says: first and later on a stream of reflection, reply
// and then a status with details to any other call.
type script struct {
	first, later, reply, details []byte
	code                         int32
	rest                         [][]byte // after later
}

// serveScript starts a server that says what now holds, and returns its address.
func serveScript(t testing.TB, now *atomic.Pointer[script]) string {
	t.Helper()
	server := grpc.NewServer(grpc.ForceServerCodecV2(raw{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		return now.Load().serve(stream)
	}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }() // ends with Stop
	t.Cleanup(server.Stop)
	return l.Addr().String()
}

// serve answers a stream.
func (s *script) serve(stream grpc.ServerStream) error {
	method, _ := grpc.MethodFromServerStream(stream)
	answers := [][]byte{s.reply}
	if strings.HasPrefix(method, "/grpc.reflection.") {
		answers = append([][]byte{s.first, s.later}, s.rest...)
	}
	for i := 0; ; i++ {
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			break // the asker has gone, or has asked all
		}
		if err := stream.SendMsg(answers[min(i, len(answers)-1)]); err != nil {
			return err
		}
	}
	if s.code != 0 {
		stream.SetTrailer(metadata.Pairs("grpc-status-details-bin", string(s.details)))
		return status.Error(codes.Code(s.code), string(s.details))
	}
	return nil
}

// A server that speaks gRPC and says anything within: the list of services, their
// files, the reply, and the status of a call with its details.
func FuzzGRPC(f *testing.F) {
	list, files := described(f)
	var now atomic.Pointer[script]
	at := serveScript(f, &now)
	f.Add(list, files, []byte{}, int32(0), []byte{})
	f.Add(list, files, []byte("\x0a\x02\x12\x00"), int32(5), []byte("no such\n\x1b[0m"))
	f.Add(list, files, []byte{}, int32(5), []byte("\x08\x05\x1a\x10\x0a\x0etype/a.Unknown"))
	f.Add(list, files, []byte("\xff"), int32(0), []byte{})
	f.Add(list, files, bytes.Repeat([]byte("\x0a\x00"), 400_000), int32(0), []byte{})
	f.Add(list, []byte{}, []byte{}, int32(0), []byte{})
	f.Add([]byte("\x3a\x02\x08\x0c"), []byte("\x22\x02\x0a\x00"), []byte{}, int32(-1), []byte{})
	f.Fuzz(func(t *testing.T, first, later, reply []byte, code int32, details []byte) {
		now.Store(&script{first: first, later: later, reply: reply, details: details, code: code})
		within(t, target.Target{URL: "grpc://" + at + unary})
	})
}

// The files by which a server may describe a service without end are bounded.
func TestAServerThatDescribesWithoutEnd(t *testing.T) {
	list, _ := described(t)
	var now atomic.Pointer[script]
	at := serveScript(t, &now)
	var rest [][]byte // files of 3 MB, each of which imports the next
	for i := range 4 {
		body, err := protobuf.Marshal(&descriptorpb.FileDescriptorProto{
			Name: protobuf.String(fmt.Sprint(i)), Dependency: []string{fmt.Sprint(i + 1)}, Package: protobuf.String(strings.Repeat("p", 3<<20)),
		})
		if err != nil {
			t.Fatal(err)
		}
		reply, err := protobuf.Marshal(&reflectv1.ServerReflectionResponse{MessageResponse: &reflectv1.ServerReflectionResponse_FileDescriptorResponse{
			FileDescriptorResponse: &reflectv1.FileDescriptorResponse{FileDescriptorProto: [][]byte{body}},
		}})
		if err != nil {
			t.Fatal(err)
		}
		rest = append(rest, reply)
	}
	now.Store(&script{first: list, later: rest[0], rest: rest[1:]})
	refused(t, target.Target{URL: "grpc://" + at + unary}, "it describes the service by more than 8.00 MiB; give --proto FILE")
}
