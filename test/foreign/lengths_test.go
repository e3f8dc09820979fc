package foreign_test

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/record"
	"netdyno/test/loopback"
	"netdyno/test/shop"
)

// Clients in Go and in C++ count the lengths of replies that vary, every reply once.
func TestLengthsThatVaryAreCounted(t *testing.T) {
	replies := []string{"hello", "hello", "", strings.Repeat("x", 2000)} // half of them as long as the factor says
	for client, wire := range map[string]string{
		"go-http1": "http/1.1", "http1-uring": "http/1.1", "http1-asio": "http/1.1", "go-http2": "h2c", "h2-uring": "h2c", "h2-asio": "h2c",
		"go-grpc": "grpc:netdyno.v1", "grpc-nghttp2": "grpc:netdyno.v1", "grpc-nghttp2-asio": "grpc:netdyno.v1",
	} {
		t.Run(client, func(t *testing.T) {
			need(t, nil, "address", client)
			s := &counting{}
			next := func() []byte { return []byte(replies[s.taken.Add(1)%int64(len(replies))]) }
			args := []string{"client=" + client, "server=address", "opt.server.wire=" + wire, "opt.client.verify=status", "request=0B", "response=5B", "amount=40"}
			if strings.HasPrefix(wire, "grpc") {
				at := shop.Serve(t, func(stream grpc.ServerStream, _ string, _ []byte) error { return stream.SendMsg(next()) })
				args = append(args, "opt.server.address="+at, "opt.client.method=/shop.v1.Shop/Buy", "opt.client.codec=raw")
			} else {
				server := loopback.HTTP(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(next()) })
				args = append(args, "opt.server.address="+server.Addr)
			}
			r := trial(t, args...)
			completed(t, r, 80)
			demandLengths(t, r, 80)
		})
	}
}

// demandLengths demands that the lengths of all replies were counted, that three lengths
// occur, and that the lengths add up to the bytes that came.
func demandLengths(t *testing.T, r record.Record, all int64) {
	t.Helper()
	for _, w := range r.Workers {
		if w.Role != contract.Client || w.Result == nil {
			continue
		}
		lengths, err := hist.Decode(w.Result.Lengths)
		if err != nil {
			t.Fatal(err)
		}
		different, sum := 0, int64(0)
		for bytes, n := range lengths.Steps().All() {
			different++
			sum += bytes * n
		}
		if lengths.Count() != all || different != 3 || sum != w.Result.Counts.ReceivedBytes {
			t.Errorf("%d replies of %d lengths, %d bytes together; want %d of 3, and the %d bytes that came", lengths.Count(), different, sum, all, w.Result.Counts.ReceivedBytes)
		}
	}
}
