package foreign_test

import (
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/test/loopback"
	"netdyno/test/shop"
)

// An exchange that is not answered in time failed, on every wire that has the feature, and the
// others on its connection go on.
func TestExchangesEndAtTheirDeadline(t *testing.T) {
	for client, wire := range map[string]string{"go-http1": "http/1.1", "http1-uring": "http/1.1", "http1-asio": "http/1.1", "go-http2": "h2c", "h2-uring": "h2c", "h2-asio": "h2c", "go-grpc": "grpc:netdyno.v1", "grpc-nghttp2": "grpc:netdyno.v1", "grpc-nghttp2-asio": "grpc:netdyno.v1"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel() // most of it is waiting
			need(t, nil, "address", client)
			s := &counting{}
			at := ""
			if strings.Contains(client, "grpc") {
				at = shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error {
					if s.failsNowAndThen() {
						<-stream.Context().Done()
						return stream.Context().Err()
					}
					return stream.SendMsg(request)
				})
			} else {
				at = loopback.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
					if s.failsNowAndThen() {
						<-r.Context().Done()
						return
					}
					_, _ = w.Write([]byte("hello"))
				}).Addr
			}
			r := trial(t, "client="+client, "server=address", "opt.server.wire="+wire, "opt.server.address="+at,
				"opt.client.verify=length", "request=5B", "response=5B", "amount=50", "max_errors=50%", "deadline=40ms")
			failures(t, r, contract.Timeout, "no reply within the deadline of 40.0 ms")
			for _, w := range r.Workers {
				if w.Role != contract.Client {
					continue
				}
				failed := w.Result.Counts.Errors[contract.Timeout]
				late, err := hist.Decode(w.Result.Late)
				if err != nil || failed == 0 || late.Count() != failed || w.Result.Counts.Exchanges+failed != 100 {
					t.Errorf("%+v, and %d late, %v", w.Result.Counts, late.Count(), err)
				}
			}
		})
	}
}
