package foreign_test

import (
	"errors"
	"io"
	"sync/atomic"
	"testing"

	"netdyno/test/shop"

	"google.golang.org/grpc"
)

// On a stream that stays open a request is a message: as many as a server took, not as many
// as the streams it had.
func TestAServerTookTheMessagesOfStreams(t *testing.T) {
	for _, client := range []string{"go-grpc", "grpc-nghttp2", "grpc-nghttp2-asio"} {
		t.Run(client, func(t *testing.T) {
			need(t, nil, "address", client)
			var streams, messages atomic.Int64
			at := shop.Serve(t, func(stream grpc.ServerStream, _ string, message []byte) error {
				streams.Add(1)
				for {
					messages.Add(1)
					if err := stream.SendMsg(message); err != nil {
						return err
					}
					if err := stream.RecvMsg(&message); errors.Is(err, io.EOF) {
						return nil // the client has ended it
					} else if err != nil {
						return err
					}
				}
			})
			r := trial(t, "client="+client, "server=address", "opt.server.wire=grpc:netdyno.v1", "opt.server.address="+at,
				"opt.client.mode=stream", "opt.client.verify=length", "request=5B", "response=5B", "inflight=3", "amount=51")
			completed(t, r, 102)
			account(t, r, messages.Load(), false)
			if n := streams.Load(); n < 6 || n > 8 { // one for each slot, and for a verified exchange perhaps
				t.Errorf("the server had %d streams, want 6 to 8", n)
			}
		})
	}
}
