package target_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"netdyno/internal/run/target"
)

// StreamingOutputCall sends what it is asked for; of a status, first that and then the status;
// without either it goes on until the client ends the call.
func (*service) StreamingOutputCall(r *pb.StreamingOutputCallRequest, to grpc.ServerStreamingServer[pb.StreamingOutputCallResponse]) error {
	for _, p := range r.GetResponseParameters() {
		if err := to.Send(&pb.StreamingOutputCallResponse{Payload: &pb.Payload{Body: make([]byte, p.GetSize())}}); err != nil {
			return err
		}
	}
	if st := r.GetResponseStatus(); st != nil {
		return status.Error(codes.Code(st.GetCode()), st.GetMessage())
	}
	for len(r.GetResponseParameters()) == 0 {
		if err := to.Send(&pb.StreamingOutputCallResponse{}); err != nil {
			return err
		}
		time.Sleep(time.Millisecond)
	}
	return nil
}

// StreamingInputCall answers with the bytes of what it was sent.
func (*service) StreamingInputCall(from grpc.ClientStreamingServer[pb.StreamingInputCallRequest, pb.StreamingInputCallResponse]) error {
	n := 0
	for {
		r, err := from.Recv()
		if errors.Is(err, io.EOF) {
			return from.SendAndClose(&pb.StreamingInputCallResponse{AggregatedPayloadSize: int32(n)})
		} else if err != nil {
			return err
		}
		n += len(r.GetPayload().GetBody())
	}
}

// FullDuplexCall answers each message with one of the same payload.
func (*service) FullDuplexCall(s grpc.BidiStreamingServer[pb.StreamingOutputCallRequest, pb.StreamingOutputCallResponse]) error {
	for {
		r, err := s.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := s.Send(&pb.StreamingOutputCallResponse{Payload: r.GetPayload()}); err != nil {
			return err
		}
	}
}

const ofTests = "/grpc.testing.TestService/"

// Methods that stream are called by the client on a library of Go's, and their replies are events.
func TestMethodsThatStream(t *testing.T) {
	at := "grpc://" + serveGRPC(t, all)
	three := `{"responseParameters": [{"size": 1}, {"size": 2}, {"size": 3}]}`
	f := levels(t, target.Target{URL: at + ofTests + "StreamingOutputCall", Data: three, Client: cheap}, map[string]string{
		"client": "go-grpc", "events": "yes", "opt.client.method_streams": "down", "opt.client.events": "", "opt.client.most_events": "", "opt.client.events_for": "",
		"response": "18B", "request": "12B", "opt.client.verify": "status",
	})
	if !strings.Contains(f.Words, "18 bytes of grpc.testing.StreamingOutputCallResponse") || !strings.Contains(f.Words, "3 messages in ") {
		t.Errorf("words %q", f.Words)
	}
	f = levels(t, target.Target{URL: at + "/StreamingOutputCall", Events: target.Events{Follow: true, Most: 5}}, map[string]string{"opt.client.most_events": "5", "events": "yes", "opt.client.body": "", "response": "0B"})
	if !strings.Contains(f.Words, "5 messages in ") {
		t.Errorf("words %q", f.Words)
	}
	f = levels(t, target.Target{URL: at + "/StreamingOutputCall", Events: target.Events{Follow: true, Lasts: 30 * time.Millisecond}}, map[string]string{"opt.client.events_for": "30ms"})
	if !strings.Contains(f.Words, "messages in ") && !strings.Contains(f.Words, "1 message in ") {
		t.Errorf("words %q", f.Words)
	}
	two := `{"payload": {"body": "AAAA"}}
 {"payload": {"body": "AAAAAAAA"}}`
	f = levels(t, target.Target{URL: at + "/StreamingInputCall", Data: two}, map[string]string{"opt.client.method_streams": "up", "events": "", "request": "17B", "response": "2B"})
	if text := f.Texts["opt.client.body"]; string(text.Bytes) != "CgUSAwAAAA==\nCggSBgAAAAAAAA==" || !strings.Contains(f.Words, "for 2 messages in turn") {
		t.Errorf("%q, words %q", text.Bytes, f.Words)
	}
	levels(t, target.Target{URL: at + "/StreamingInputCall", Data: "{}"}, map[string]string{"opt.client.method_streams": "up", "opt.client.body": "", "request": "0B"})
	f = levels(t, target.Target{URL: at + "/FullDuplexCall", Data: two}, map[string]string{"opt.client.method_streams": "both", "events": "yes", "response": "17B"})
	if !strings.Contains(f.Words, "2 messages in ") {
		t.Errorf("words %q", f.Words)
	}
}

func TestStreamsThatCannotBeMeasuredAreOneSentence(t *testing.T) {
	at := "grpc://" + serveGRPC(t, all) + ofTests
	for _, c := range []struct {
		asked target.Target
		want  string
	}{
		{target.Target{URL: at + "StreamingOutputCall", Data: `{"responseParameters": [{"size": 1}], "responseStatus": {"code": 14, "message": "gone"}}`}, "StreamingOutputCall answers Unavailable: gone"},
		{target.Target{URL: at + "StreamingOutputCall", Data: `{"responseStatus": {"code": 0}}`}, "brings no events: no message within"},
		{target.Target{URL: at + "StreamingOutputCall", Data: "{} {}"}, "--data does not fit"},
		{target.Target{URL: at + "StreamingInputCall", Data: "{}\n{}\n {\"payloat\": 1}"}, "message 3: line 3, column 3"},
		{target.Target{URL: at + "StreamingInputCall", Data: "{}\n{"}, "message 2: line 2, column 2"},
		{target.Target{URL: at + "UnaryCall", Events: target.Events{Follow: true}}, "methods whose replies are streams; /grpc.testing.TestService/UnaryCall has one reply"},
		{target.Target{URL: at + "StreamingInputCall", Events: target.Events{Follow: true}}, "StreamingInputCall has one reply"},
		{target.Target{URL: at + "StreamingOutputCall", Expect: "body"}, "compares replies whole"},
		{target.Target{URL: at + "StreamingOutputCall", Data: `{"responseParameters": [{"size": 1}, {"size": 9}]}`, Expect: `not regexp:\x00{9}`}, "has a match of"},
		{target.Target{URL: at + "StreamingOutputCall", Headers: []string{"grpc-encoding: gzip"}}, "--compressed packs"},
		{target.Target{URL: at + "StreamingOutputCall", Headers: []string{"grpc-timeout: 20m"}}, "did not answer within its deadline of 20ms"},
		{target.Target{URL: at + "StreamingOutputCall", Events: target.Events{Follow: true, Chat: true}}, "--as chat goes with http:// URLs"},
		{target.Target{URL: at + "HalfDuplexCall"}, "Unimplemented"},
	} {
		refused(t, c.asked, c.want)
	}
}

// Calls of every kind are packed, carry metadata in bytes and tell the server their deadline.
func TestCallsOfEveryKindArePacked(t *testing.T) {
	var packed, told atomic.Int32
	see := func(ctx context.Context) {
		md, _ := metadata.FromIncomingContext(ctx)
		if strings.Join(md["x-bin"], "") == "\x00\xff" && strings.Join(md["grpc-accept-encoding"], "") != "" {
			packed.Add(1)
		}
		if _, has := ctx.Deadline(); has {
			told.Add(1)
		}
	}
	at := serveGRPC(t, all, grpc.StreamInterceptor(func(service any, s grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		see(s.Context())
		return next(service, s)
	}), grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		see(ctx)
		return next(ctx, request)
	}))
	for method, data := range map[string]string{
		"UnaryCall": `{"responseSize": 100}`, "StreamingOutputCall": `{"responseParameters": [{"size": 100}]}`,
		"StreamingInputCall": `{"payload": {"body": "AAAA"}} {}`, "FullDuplexCall": `{"payload": {"body": "AAAA"}}`,
	} {
		packed.Store(0)
		told.Store(0)
		f := levels(t, target.Target{URL: "grpc://" + at + ofTests + method, Data: data, Packed: true, Headers: []string{"x-bin: AP8", "grpc-timeout: 5S"}, Client: cheap}, map[string]string{
			"client": "go-grpc", "opt.client.compression": "gzip", "opt.client.packed_replies": "yes", "opt.client.deadline": "5s",
		})
		if packed.Load() == 0 || told.Load() == 0 || !strings.Contains(f.Words, "packed by gzip") {
			t.Errorf("%s: %d calls with metadata, %d with a deadline; words %q", method, packed.Load(), told.Load(), f.Words)
		}
	}
}
