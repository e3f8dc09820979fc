package main

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// TestRequestsAreAsTheUserSays drives a server that answers only the right request,
// by every client of HTTP, plain and encrypted by an authority of its own.
func TestRequestsAreAsTheUserSays(t *testing.T) {
	t.Parallel()
	var length atomic.Int64
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path == "/varying":
			_, _ = io.WriteString(w, strings.Repeat("x", int(length.Add(1)%7)+1))
		case r.Method != http.MethodPut, string(body) != "hello", r.Header.Get("X-Key") != "1", r.Header.Get("Content-Type") != "text/plain", r.Host != "shop.example":
			http.Error(w, fmt.Sprintf("%s %q %v for %s", r.Method, body, r.Header, r.Host), http.StatusBadRequest)
		default:
			w.WriteHeader(http.StatusCreated)
			_, _ = io.WriteString(w, "made")
		}
	})
	asked := map[string]any{
		"path": "/made", "verify": "length", "method": "PUT", "body": "hello", "host": "shop.example", "status": 201.0,
		"headers": "X-Key: 1\nContent-Type: text/plain",
	}
	for _, client := range []string{"go-http1", "fasthttp", "go-http2"} {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", client, encrypted), func(t *testing.T) {
				t.Parallel()
				server, options := serveAsked(t, handler, client == "go-http2", encrypted)
				all := map[string]any{}
				for name, value := range options {
					all[name] = value
				}
				for name, value := range asked {
					all[name] = value
				}
				setup := contract.Setup{Transport: client, Peers: []string{server}, Exchange: contract.Exchange{UpBytes: 5, DownBytes: 4}, Options: all}
				if encrypted {
					setup.TLS = &contract.TLS{Authorities: workertest.Certificate(t).Authorities}
				}
				r := driven(t, setup)
				if r.Counts.SentBytes != 200 || r.Counts.ReceivedBytes != 160 {
					t.Errorf("counts %+v, want 40 requests of 5 bytes and replies of 4", r.Counts)
				}
				options["path"], options["verify"] = "/varying", "status"
				setup.Options, setup.Exchange = options, contract.Exchange{DownBytes: 1}
				r = driven(t, setup)
				if r.Counts.ReceivedBytes <= 40 {
					t.Errorf("counts %+v, want what came", r.Counts)
				}
			})
		}
	}
}

// serveAsked starts a server and returns its address, with what a client needs to
// trust it.
func serveAsked(t *testing.T, handler http.Handler, http2, encrypted bool) (string, map[string]any) {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(!http2)
	s.Config.Protocols.SetUnencryptedHTTP2(http2)
	s.Config.Protocols.SetHTTP2(http2)
	s.EnableHTTP2 = http2
	options := map[string]any{}
	if !encrypted {
		s.Start()
	} else {
		s.StartTLS()
		ca := filepath.Join(t.TempDir(), "ca.pem")
		if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
			t.Fatal(err)
		}
		options["ca"], options["sni"] = ca, "example.com" // whose the test's certificate is
	}
	t.Cleanup(s.Close)
	return s.Listener.Addr().String(), options
}

// driven has a client make 40 exchanges, all of which must succeed.
func driven(t *testing.T, setup contract.Setup) contract.Result {
	t.Helper()
	setup.Role, setup.Load = contract.Client, contract.Load{Connections: 2, Amount: 20}
	b := workertest.Start(t, all...)
	b.Setup(setup)
	b.Start()
	r := b.Expect("result").Result
	if r.Counts.Exchanges != 40 || len(r.Counts.Errors) > 0 {
		t.Errorf("counts %+v, want 40 exchanges", r.Counts)
	}
	return *r
}

func TestOptionsOfARequestAreChecked(t *testing.T) {
	t.Parallel()
	for option, c := range map[string]struct {
		value any
		want  string
	}{
		"method":  {"GET it", "is not a method"},
		"headers": {"X-Key", "expected Name: value"},
		"host":    {"a b", "is not a host"},
		"body":    {"too long", "the factor request says 1"},
		"cert":    {"client.pem", "key is not; expected both"},
		"ca":      {"/nowhere.pem", "no such file"},
	} {
		for _, client := range []string{"go-http1", "fasthttp", "go-http2"} {
			setup := contract.Setup{
				Transport: client, Role: contract.Client, Peers: []string{"127.0.0.1:9"}, Exchange: contract.Exchange{UpBytes: 1, DownBytes: 1},
				Load: contract.Load{Connections: 1}, Options: map[string]any{option: c.value}, TLS: &contract.TLS{Authorities: workertest.Certificate(t).Authorities},
			}
			if e := workertest.Refused(t, all, setup); e.Kind != contract.SetupFailed || !strings.Contains(e.Text, c.want) {
				t.Errorf("%s of %s: %+v, want %q", option, client, e, c.want)
			}
		}
	}
}
