package foreign_test

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/loopback"
	"netdyno/test/shop"
)

// failsNowAndThen is a server whose every tenth reply from the twentieth on is wrong.
func (s *counting) failsNowAndThen() bool {
	n := s.taken.Add(1)
	return n > 20 && n%10 == 0
}

// Equal causes have equal reasons, whichever client names them.
func TestFailuresOfHTTPHaveReasons(t *testing.T) {
	for name, c := range map[string]struct {
		wrong        func(http.ResponseWriter)
		kind         contract.ErrorKind
		http1, http2 string
	}{
		"a status": {answer(http.StatusTooManyRequests), contract.Invalid, "429 Too Many Requests", ""},
		"a length": {func(w http.ResponseWriter) { _, _ = w.Write([]byte("hello!")) }, contract.Invalid, "the reply has 6 bytes, expected 5", ""},
		"no reply": {func(http.ResponseWriter) { panic(http.ErrAbortHandler) }, contract.Peer, "", "stream reset (INTERNAL_ERROR)"},
		"half of it": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "5")
			_, _ = w.Write([]byte("he"))
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, contract.Peer, "connection closed within the reply", "stream reset (INTERNAL_ERROR)"},
	} {
		for client, wire := range map[string]string{
			"go-http1": "http/1.1", "http1-uring": "http/1.1", "http1-asio": "http/1.1", "go-http2": "h2c", "h2-uring": "h2c", "h2-asio": "h2c",
		} {
			says := c.http1
			if wire == "h2c" && c.http2 != "" {
				says = c.http2
			}
			if says == "" {
				continue // what a close between two exchanges is, the RFC says
			}
			t.Run(name+", "+client, func(t *testing.T) {
				t.Parallel()
				need(t, nil, "address", client)
				s := &counting{}
				server := loopback.HTTP(t, func(w http.ResponseWriter, _ *http.Request) {
					if s.failsNowAndThen() {
						c.wrong(w)
						return
					}
					_, _ = w.Write([]byte("hello"))
				})
				r := trial(t, "client="+client, "server=address", "opt.server.wire="+wire, "opt.server.address="+server.Addr,
					"opt.client.verify=length", "response=5B", "amount=50", "request=0B", "max_errors=50%")
				failures(t, r, c.kind, says)
			})
		}
	}
}

func TestFailuresOfGRPCHaveReasons(t *testing.T) {
	for _, c := range []struct {
		code codes.Code
		kind contract.ErrorKind
	}{{codes.ResourceExhausted, contract.Invalid}, {codes.DeadlineExceeded, contract.Timeout}, {codes.Unavailable, contract.Peer}} {
		for _, client := range []string{"go-grpc", "grpc-nghttp2", "grpc-nghttp2-asio", "grpcpp"} {
			t.Run(c.code.String()+", "+client, func(t *testing.T) {
				need(t, nil, "address", client)
				s := &counting{}
				at := shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error {
					if s.failsNowAndThen() {
						return status.Error(c.code, "try later: 100 %")
					}
					return stream.SendMsg(request)
				})
				r := trial(t, "client="+client, "server=address", "opt.server.wire=grpc:netdyno.v1", "opt.server.address="+at,
					"opt.client.verify=length", "request=5B", "response=5B", "amount=50", "max_errors=50%")
				failures(t, r, c.kind, c.code.String()+": try later: 100 %")
			})
		}
	}
}

// A server that ends without a word: what it answers to is connections refused.
func TestAServerThatEndsHasAReason(t *testing.T) {
	for client, wire := range map[string]string{"http1-uring": "http/1.1", "h2-uring": "h2c", "h2-asio": "h2c"} {
		t.Run(client, func(t *testing.T) {
			need(t, nil, "address", client)
			s := &counting{}
			server := &http.Server{Protocols: new(http.Protocols)}
			server.Protocols.SetHTTP1(true)
			server.Protocols.SetUnencryptedHTTP2(true)
			server.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if s.taken.Add(1) > 20 {
					_ = server.Close()
				}
				_, _ = w.Write([]byte("hello"))
			})
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = server.Serve(l) }()
			r := trial(t, "client="+client, "server=address", "opt.server.wire="+wire, "opt.server.address="+l.Addr().String(),
				"opt.client.verify=length", "response=5B", "window=300ms", "warmup=100ms", "request=0B")
			if r.Outcome != record.Failed || r.Failure.Kind != contract.Peer || !strings.Contains(r.Failure.Text, "closed every connection") {
				t.Errorf("the trial is %s: %+v; want it failed because every connection was lost", r.Outcome, r.Failure)
			}
		})
	}
}
