package target_test

import (
	"crypto/tls"
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/http3"

	"netdyno/internal/run/target"
)

// overQUIC serves HTTP/3 on the UDP port of a server's number, with its certificate.
func overQUIC(t *testing.T, s *httptest.Server, handler http.Handler) {
	t.Helper()
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s.Listener.Addr().String())))
	if err != nil {
		t.Fatal(err)
	}
	server := &http3.Server{TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: s.TLS.Certificates}), Handler: handler}
	go func() { _ = server.Serve(socket) }() // until it is closed
	t.Cleanup(func() {
		_ = server.Close()
		_ = socket.Close()
	})
}

func authority(t *testing.T, s *httptest.Server) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestHTTP3(t *testing.T) {
	handler := http.NewServeMux()
	handler.Handle("/", site())
	handler.Handle("/plain", http.RedirectHandler("http://127.0.0.1:1/", http.StatusFound))
	s := httptest.NewTLSServer(handler)
	defer s.Close()
	overQUIC(t, s, handler)
	at, ca := strings.TrimPrefix(s.URL, "https://"), authority(t, s)
	f := levels(t, target.Target{URL: s.URL, CA: ca, HTTP3: true, Client: cheap}, map[string]string{
		"server": "address", "client": "go-http3", "opt.server.address": at, "opt.server.wire": target.WireHTTP3, "request": "0B", "response": "615B",
		"opt.client.path": "/", "opt.client.verify": "status", "fresh": "", "tls": "yes", "opt.client.ca": ca,
	})
	if f.At.String() != at || !f.Local || !strings.HasPrefix(f.Words, "HTTP/3.0 200 OK, 615 bytes, keep-alive, test/1") {
		t.Errorf("found %+v", f)
	}
	levels(t, target.Target{URL: s.URL + "/moved", Insecure: true, HTTP3: true, Follow: true}, map[string]string{"opt.client.path": "/elsewhere", "opt.client.insecure": "true"})
	levels(t, target.Target{URL: s.URL + "/made", Insecure: true, HTTP3: true, Method: http.MethodPut, Body: "hello", Headers: []string{"X-Key: 1"}, Host: "shop.example"}, map[string]string{"opt.client.status": "201", "request": "5B"})
	levels(t, target.Target{URL: s.URL, Insecure: true, HTTP3: true, Close: true}, map[string]string{"fresh": "yes"})
	levels(t, target.Target{URL: s.URL, Insecure: true, HTTP3: true, Source: netip.MustParseAddr("127.0.0.5")}, map[string]string{"client.source": "127.0.0.5"})
	for _, c := range []struct {
		asked target.Target
		says  string
	}{
		{target.Target{URL: s.URL}, "signed by itself"},
		{target.Target{URL: "https://" + strings.Replace(at, "127.0.0.1", "localhost", 1), CA: ca}, "--sni"},
		{target.Target{URL: strings.Replace(s.URL, "https", "http", 1)}, "https://"},
		{target.Target{URL: s.URL + "/plain", Insecure: true, Follow: true}, "leave out --http3"},
		{target.Target{URL: s.URL + "/broken", Insecure: true}, "500"},
	} {
		c.asked.HTTP3 = true
		if _, err := target.Ask(t.Context(), c.asked); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.asked.URL, err, c.says)
		}
	}
}

// A server without HTTP/3 is said to be one, and one that has no other is found by it.
func TestWithoutHTTP3(t *testing.T) {
	s := httptest.NewTLSServer(site())
	defer s.Close()
	if _, err := target.Ask(t.Context(), target.Target{URL: s.URL, Insecure: true, HTTP3: true}); err == nil || !strings.Contains(err.Error(), "by UDP") || !strings.Contains(err.Error(), "leave out --http3") {
		t.Error(err)
	}
	overQUIC(t, s, site())
	_ = s.Listener.Close()
	if _, err := target.Ask(t.Context(), target.Target{URL: s.URL, Insecure: true}); err == nil || !strings.Contains(err.Error(), "add --http3") {
		t.Error(err)
	}
}

// A server of QUIC that has another protocol than HTTP/3 is none.
func TestQUICWithoutHTTP3(t *testing.T) {
	s := httptest.NewTLSServer(site())
	defer s.Close()
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s.Listener.Addr().String())))
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	other, err := quic.Listen(socket, &tls.Config{Certificates: s.TLS.Certificates, NextProtos: []string{"other"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := target.Ask(t.Context(), target.Target{URL: s.URL, Insecure: true, HTTP3: true}); err == nil || !strings.Contains(err.Error(), "no HTTP/3") {
		t.Error(err)
	}
}

// What a reply over TCP offers is known where the port is that of the URL.
func TestHTTP3IsOffered(t *testing.T) {
	offer := ""
	s := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Alt-Svc", offer) }))
	defer s.Close()
	_, port, err := net.SplitHostPort(s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		header string
		offers bool
	}{
		{`h3=":` + port + `"; ma=86400`, true}, {`h2=":1", h3=":` + port + `"`, true},
		{`h3=":1"`, false}, {`h3="other.test:` + port + `"`, false}, {`h3-29=":` + port + `"`, false}, {"clear", false}, {"", false},
	} {
		offer = c.header
		if f := levels(t, target.Target{URL: s.URL, Insecure: true}, nil); f.Offers != c.offers {
			t.Errorf("Alt-Svc: %s: %t, want %t", c.header, f.Offers, c.offers)
		}
	}
}
