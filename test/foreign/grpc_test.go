package foreign_test

import (
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
)

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
					err := stream.RecvMsg(&message)
					if errors.Is(err, io.EOF) {
						return nil // the client has ended it
					}
					if err != nil {
						return err
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
