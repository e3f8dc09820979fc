package target_test

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

	"netdyno/internal/run/target"

	"netdyno/test/loopback"
)

// What a server speaks instead is said, with what to type for it.
func TestAServerOfAnotherWire(t *testing.T) {
	plain, knowing, secure := httptest.NewServer(site()), httptest.NewUnstartedServer(site()), httptest.NewUnstartedServer(site())
	knowing.Config.Protocols = new(http.Protocols)
	knowing.Config.Protocols.SetUnencryptedHTTP2(true)
	knowing.Start()
	secure.EnableHTTP2 = false
	secure.StartTLS()
	for _, s := range []*httptest.Server{plain, knowing, secure} {
		t.Cleanup(s.Close)
	}
	at := func(s *httptest.Server) string { return s.Listener.Addr().String() }
	calls := serveGRPC(t, all)
	secret := serveGRPC(t, all, grpc.Creds(credentials.NewTLS(&tls.Config{Certificates: secure.TLS.Certificates})))
	echo := loopback.Serve(t, echo)
	for _, c := range []struct {
		url   string
		http2 bool
		want  string
	}{
		{"http://" + at(knowing) + "/", false, at(knowing) + " speaks HTTP/2 without TLS: add --http2"},
		{"http://" + at(plain) + "/", true, at(plain) + " speaks HTTP/1.1: leave out --http2"},
		{"http://" + at(secure) + "/x?y=1", false, "answers 400 Bad Request: \"Client sent an HTTP request to an HTTPS server.\"; the server speaks HTTP/1.1 by TLS: measure https://" + at(secure) + "/x?y=1"},
		{"https://" + at(secure) + "/", true, at(secure) + " speaks HTTP/1.1 by TLS: leave out --http2"},
		{"http://" + calls + "/", false, calls + " speaks gRPC without TLS: measure grpc://" + calls + "/pkg.Service/Method"},
		{"http://" + calls + "/", true, "speaks gRPC without TLS: measure grpc://" + calls + "/pkg.Service/Method"},
		{"http://" + secret + "/", false, "speaks gRPC by TLS: measure grpcs://" + secret + "/pkg.Service/Method"},
		{"https://" + secret + "/", false, "speaks gRPC by TLS: measure grpcs://" + secret + "/pkg.Service/Method"},
		{"https://" + calls + "/", false, calls + " speaks gRPC without TLS: measure grpc://"},
		{"https://" + at(knowing) + "/", false, at(knowing) + " speaks HTTP/2 without TLS: measure http://" + at(knowing) + "/ with --http2"},
		{"http://" + echo + "/", false, echo + " speaks echo: measure tcp://" + echo},
	} {
		refused(t, target.Target{URL: c.url, HTTP2: c.http2, Insecure: true}, c.want)
	}
}

// A server that speaks both versions and refuses the request gets no advice: HTTP/2 would
// be refused alike. A server whose status asks for HTTP/2 gets the advice.
func TestAServerOfBothVersionsThatRefuses(t *testing.T) {
	for status, advised := range map[int]bool{400: false, 405: false, 415: false, 426: true, 505: true} {
		s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(status) }))
		s.Config.Protocols = new(http.Protocols)
		s.Config.Protocols.SetHTTP1(true)
		s.Config.Protocols.SetUnencryptedHTTP2(true)
		s.Start()
		t.Cleanup(s.Close)
		_, err := target.Ask(t.Context(), target.Target{URL: s.URL + "/"})
		if err == nil || !strings.Contains(err.Error(), fmt.Sprint(status)) {
			t.Errorf("status %d: %v, want an error that names it", status, err)
		} else if got := strings.Contains(err.Error(), "--http2"); got != advised {
			t.Errorf("status %d: %q, advises --http2: %v, want %v", status, err, got, advised)
		}
	}
}
