package target_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"netdyno/internal/run/target"

	"netdyno/test/loopback"
)

// What a reply says comes first, then what is likely and what to type; that such replies can
// be measured comes last, and only where all are so.
func TestAdviceFollowsTheReply(t *testing.T) {
	var number atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, says := 0, r.URL.Query().Get("says")
		_, _ = fmt.Sscan(strings.TrimPrefix(r.URL.Path, "/"), &status)
		if r.URL.Path == "/once" {
			if status = 409; number.Add(1) == 1 {
				status = 201
			}
		}
		if r.URL.Path == "/flaky" {
			if status = 200; number.Add(1) == 1 {
				status = 503
			}
		}
		if kind := r.URL.Query().Get("kind"); kind != "" {
			w.Header().Set("Content-Type", kind)
		}
		w.Header().Set("Retry-After", "7")
		w.Header().Set("Allow", "GET, PUT")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, says) // the asker judges it
	}))
	defer s.Close()
	for path, c := range map[string]struct {
		words    string // in this order, parted by |
		measures bool   // is said to be possible
	}{
		"/once?says=seen":  {`409 Conflict: "seen"|another time 201 Created|{uuid}|--data-from`, false},
		"/flaky?says=busy": {`503 Service Unavailable: "busy"|another time 200 OK|-q RATE|Retry-After: 7`, false},
		"/401?says=who":    {`"who"|-u NAME:PASSWORD|--expect-status 401`, true},
		"/404?says=nope":   {`"nope"|check the path|--expect-status 404`, true},
		"/405":             {`405|does not take POST|GET, PUT|--expect-status 405`, true},
		"/415":             {`body of type text/odd|--json|--expect-status 415`, true},
		"/413":             {`larger|--expect-status 413`, true},
		"/422":             {`does not take its values|--expect-status 422`, true},
		"/429":             {`-q RATE|--expect-status 429`, true},
		"/502":             {`a proxy|--expect-status 502`, true},
		"/418":             {`418|--expect-status 418`, true},
		"/500?kind=text/html&says=" + url.QueryEscape("<html><style>a{}</style><h1>it\n broke\x1b[31m</h1>"): {`500 Internal Server Error: "it broke·[31m"|its log`, true},
		"/500?says=%ff%00%01":                        {`500 Internal Server Error; |its log`, true},
		"/500?says=" + strings.Repeat("%C3%A9", 300): {`"` + strings.Repeat("é", 200) + `…"|its log`, true},
	} {
		number.Store(0)
		_, err := target.Ask(t.Context(), target.Target{URL: s.URL + path, Method: "POST", Headers: []string{"Content-Type: text/odd"}, Body: "x"})
		if err == nil {
			t.Errorf("%.40s: no error", path)
			continue
		}
		text, rest := err.Error(), err.Error()
		for _, want := range strings.Split(c.words, "|") {
			_, after, found := strings.Cut(rest, want)
			if !found {
				t.Errorf("%.40s: %s\nwant %q", path, text, c.words)
				break
			}
			rest = after
		}
		if strings.Contains(text, "--expect-status") != c.measures || c.measures && !strings.Contains(text[strings.LastIndex(text, ";"):], "--expect-status") {
			t.Errorf("%.40s: %s\nsays that it can be measured, or not at the end", path, text)
		}
	}
	refused(t, target.Target{URL: s.URL + "/404", Status: 200}, "--expect-status says 200; it has nothing there")
}

// What is likely the proxy's word is said so.
func TestAProxysErrorPage(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no such host", http.StatusBadGateway) }))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	refused(t, target.Target{URL: "http://shop.example/", Proxy: at}, `"no such host"; it may be the words of the proxy `+at.Host)
	refused(t, target.Target{URL: "https://shop.example/", Proxy: at}, "the proxy "+at.Host+" answers 502 Bad Gateway when it is asked for shop.example:443; ")
}

// A reply that does not end is told from none, each with how far it came.
func TestHowFarARequestCame(t *testing.T) {
	defer target.StreamsEnd(300 * time.Millisecond)()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		for r.Context().Err() == nil {
			_, _ = io.WriteString(w, "data: 1\n\n") // the asker goes
			_ = http.NewResponseController(w).Flush()
			time.Sleep(5 * time.Millisecond)
		}
	}))
	defer s.Close()
	refused(t, target.Target{URL: s.URL}, s.URL+" answers 200 OK, and the reply does not end: ")
	refused(t, target.Target{URL: s.URL}, " of text/event-stream within 300ms (connected in ")
	reset := loopback.Serve(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096))
		_ = c.(*net.TCPConn).SetLinger(0) // its end is a reset
	})
	refused(t, target.Target{URL: "http://" + reset}, "takes connections and resets them (connected in ")
	h3, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{certificate(t, "shop.test", time.Now(), time.Now().Add(time.Hour))}, NextProtos: []string{"h3"}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer h3.Close()
	refused(t, target.Target{URL: "https://" + h3.Addr().String()}, "by TCP, and a server answers QUIC there by UDP: add --http3")
	part := speaking(t, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhell")
	refused(t, target.Target{URL: part}, "answers 200 OK and ends the connection within the reply: 4 B came")
}

// certificate makes one that signs itself.
func certificate(t *testing.T, name string, from, to time.Time) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: from, NotAfter: to, IsCA: true, BasicConstraintsValid: true}
	made, err := x509.CreateCertificate(rand.Reader, c, c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}
}

// What is wrong with a certificate is said, with what to type.
func TestCertificates(t *testing.T) {
	year := 365 * 24 * time.Hour
	for want, c := range map[string]struct {
		name     string
		from, to time.Time
		trusted  bool
		auth     tls.ClientAuthType
	}{
		"signed by itself, not by a known authority; name that with --ca FILE, or accept any with -k": {"shop.test", time.Now().Add(-year), time.Now().Add(year), false, 0},
		"expired on ":                  {"shop.test", time.Now().Add(-2 * year), time.Now().Add(-year), true, 0},
		"is valid only from ":          {"shop.test", time.Now().Add(year), time.Now().Add(2 * year), true, 0},
		"is for another name: ":        {"other.test", time.Now().Add(-year), time.Now().Add(year), true, 0},
		"wants a client's certificate": {"shop.test", time.Now().Add(-year), time.Now().Add(year), true, tls.RequireAnyClientCert},
	} {
		own := certificate(t, c.name, c.from, c.to)
		s := httptest.NewUnstartedServer(nil)
		s.TLS = &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: c.auth}
		s.StartTLS()
		t.Cleanup(s.Close)
		ca := ""
		if c.trusted {
			ca = filepath.Join(t.TempDir(), "ca.pem")
			if err := os.WriteFile(ca, pemOf(own), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		refused(t, target.Target{URL: "https://shop.test/", CA: ca, Dial: func(string) []string { return []string{s.Listener.Addr().String()} }}, want)
	}
}

func pemOf(c tls.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Certificate[0]})
}
