// Package shop is a gRPC server that is not netdyno's, for the tests of clients that are to
// call such a one, and the options by which they call it.
package shop

import (
	"encoding/base64"
	"fmt"
	"net"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
)

// Order is a message of somebody's service, serialized.
const Order = "\x08\x07\x12\x03tea"

// Answer makes the reply to the one request of a call, in bytes of the test's choice.
type Answer func(stream grpc.ServerStream, method string, request []byte) error

// Serve serves every method by one function until the test ends, and returns its address.
func Serve(t *testing.T, answer Answer, how ...grpc.ServerOption) string {
	t.Helper()
	s := grpc.NewServer(append(how, grpc.ForceServerCodecV2(Verbatim{}), grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		method, _ := grpc.MethodFromServerStream(stream)
		return answer(stream, method, request)
	}))...)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }() // it says that it was stopped
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// Asked are the options of a call that Keeper answers, changed by names and levels.
func Asked(more ...string) map[string]any {
	o := map[string]any{
		"codec": "raw", "method": "/shop.v1.Shop/Buy", "verify": "length", "host": "shop.example:7",
		"headers": "Authorization: Bearer x\nTrace-Bin: AQI=\nx-key: 1\nx-key: 2", "body": base64.StdEncoding.EncodeToString([]byte(Order)),
	}
	for i := 0; i < len(more); i += 2 {
		o[more[i]] = more[i+1]
	}
	return o
}

// Refusal is a setup of a client that cannot ask for it, and what it says.
type Refusal struct {
	Exchange contract.Exchange
	Options  map[string]any
	Kind     contract.ErrorKind
	Want     string
}

// Refusals are what no client can ask for, which none dials a server to find out.
func Refusals() []Refusal {
	order := contract.Exchange{UpBytes: int64(len(Order)), DownBytes: 4}
	return []Refusal{
		{order, Asked("headers", "x-key"), contract.SetupFailed, "expected Name: value"},
		{order, Asked("headers", "x: "+strings.Repeat("x", 65<<10)), contract.SetupFailed, "at most 65536"},
		{order, Asked("headers", "x-bin: ?"), contract.SetupFailed, "base64"},
		{order, Asked("host", "a b"), contract.SetupFailed, "expected a host"},
		{order, Asked("body", "?"), contract.SetupFailed, "no base64"},
		{contract.Exchange{UpBytes: 1, DownBytes: 1}, Asked(), contract.SetupFailed, "7 bytes and the factor request says 1"},
		{order, Asked("codec", "proto"), contract.Unsupported, "codec=raw"},
		{order, map[string]any{"verify": "status"}, contract.Unsupported, "codec=raw"},
		{order, Asked("method", "Shop/Buy"), contract.SetupFailed, "expected /package.Service/Method"},
		{order, Asked("method", "/grpc.reflection.v1.ServerReflection/X"), contract.SetupFailed, "reflection"},
	}
}

// Keeper answers four bytes, and only calls that are exactly as Asked says.
func Keeper(stream grpc.ServerStream, method string, request []byte) error {
	md, _ := metadata.FromIncomingContext(stream.Context())
	got := fmt.Sprintf("%s %q %v %v %q %v %v", method, request, md[":authority"], md["authorization"], md["trace-bin"], md["x-key"], md["content-type"])
	want := fmt.Sprintf("/shop.v1.Shop/Buy %q [shop.example:7] [Bearer x] [%q] [1 2] [application/grpc]", Order, "\x01\x02")
	if got != want {
		return status.Errorf(codes.InvalidArgument, "got %s", got)
	}
	return stream.SendMsg([]byte("done"))
}

// Verbatim is a codec for messages that are bytes. It goes by the name of protobuf's.
type Verbatim struct{}

// Name implements encoding.CodecV2.
func (Verbatim) Name() string { return "proto" }

// Marshal implements encoding.CodecV2.
func (Verbatim) Marshal(v any) (mem.BufferSlice, error) {
	if p, is := v.(*[]byte); is {
		v = *p
	}
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// Unmarshal implements encoding.CodecV2.
func (Verbatim) Unmarshal(data mem.BufferSlice, v any) error {
	*v.(*[]byte) = data.Materialize()
	return nil
}

var _ encoding.CodecV2 = Verbatim{}
