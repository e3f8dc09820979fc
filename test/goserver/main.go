// Command goserver is servers of Go's libraries, as users write them: HTTP/1.1,
// HTTP/2 by TLS and without, and gRPC that describes itself or does not.
//
//	goserver http|https|h2c|grpc|grpc-mute PORT
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"

	"google.golang.org/grpc"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/reflection"
)

func main() {
	if len(os.Args) != 3 {
		log.Fatal("goserver: expected http|https|h2c|grpc|grpc-mute PORT")
	}
	log.Fatal(serve(os.Args[1], "127.0.0.1:"+os.Args[2]))
}

func serve(kind, address string) error {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	s := &http.Server{Handler: http.HandlerFunc(order), Protocols: new(http.Protocols)}
	switch kind {
	case "http":
		s.Protocols.SetHTTP1(true)
		return s.Serve(l)
	case "https":
		return encrypted(l)
	case "h2c":
		s.Protocols.SetUnencryptedHTTP2(true)
		return s.Serve(l)
	case "grpc", "grpc-mute":
		g := grpc.NewServer()
		pb.RegisterTestServiceServer(g, shop{})
		if kind == "grpc" {
			reflection.Register(g)
		}
		return g.Serve(l)
	}
	return fmt.Errorf("there is no server %q", kind)
}

// encrypted serves both versions of HTTP by a certificate of net/http's own.
func encrypted(l net.Listener) error {
	s := httptest.NewUnstartedServer(http.HandlerFunc(order))
	_ = s.Listener.Close() // l takes its place
	s.Listener, s.EnableHTTP2 = l, true
	s.StartTLS()
	select {}
}

func order(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"id": 7, "item": "tea"}) // a client that has gone does not matter
}

type shop struct {
	pb.UnimplementedTestServiceServer
}

// UnaryCall answers with as many bytes as it is asked for.
func (shop) UnaryCall(_ context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	return &pb.SimpleResponse{Payload: &pb.Payload{Body: make([]byte, min(r.GetResponseSize(), 1<<20))}}, nil
}

// StreamingOutputCall answers with a hundred messages of the first size that it is asked for.
func (shop) StreamingOutputCall(r *pb.StreamingOutputCallRequest, to pb.TestService_StreamingOutputCallServer) error {
	var size int32
	if asked := r.GetResponseParameters(); len(asked) > 0 {
		size = max(0, min(asked[0].GetSize(), 1<<20))
	}
	message := &pb.StreamingOutputCallResponse{Payload: &pb.Payload{Body: make([]byte, size)}}
	for range 100 {
		if err := to.Send(message); err != nil {
			return err
		}
	}
	return nil
}
