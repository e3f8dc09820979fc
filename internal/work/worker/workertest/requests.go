package workertest

import (
	"encoding/pem"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/rows"
)

// Drive has a client make the amount of exchanges of its setup, and returns what it counted.
type Drive func(t *testing.T, setup contract.Setup) contract.Counts

// ServeRequests starts a server of HTTP/1.1 or HTTP/2 alone until the test ends, and returns
// its address and, where it encrypts, the options with which a client trusts it.
func ServeRequests(t testing.TB, handler http.Handler, http2, encrypted bool) (address string, trust map[string]any) {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(!http2)
	s.Config.Protocols.SetUnencryptedHTTP2(http2)
	s.Config.Protocols.SetHTTP2(http2)
	s.EnableHTTP2 = http2
	t.Cleanup(s.Close)
	trust = map[string]any{}
	if !encrypted {
		s.Start()
		return s.Listener.Addr().String(), trust
	}
	s.StartTLS()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	trust["ca"], trust["sni"] = ca, "example.com" // whose the test's certificate is
	return s.Listener.Addr().String(), trust
}

// RequestsAreAsTheUserSays drives a server that answers only the right request, and one whose
// replies have any length.
func RequestsAreAsTheUserSays(t *testing.T, transport string, http2, encrypted bool, drive Drive) {
	t.Helper()
	var length atomic.Int64
	at, trust := ServeRequests(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
	}), http2, encrypted)
	setup := contract.Setup{
		Transport: transport, Role: contract.Client, Peers: []string{at}, Exchange: Blocks(5, 4), Load: contract.Load{Connections: 2, Amount: 20},
		Options: map[string]any{
			"path": "/made", "verify": "length", "method": "PUT", "body": "hello", "host": "shop.example", "status": 201.0,
			"headers": "X-Key: 1\nContent-Type: text/plain",
		},
	}
	maps.Copy(setup.Options, trust)
	if encrypted {
		setup.TLS = &contract.TLS{Authorities: Certificate(t).Authorities}
	}
	if got := drive(t, setup); got.Exchanges != 40 || got.SentBytes != 200 || got.ReceivedBytes != 160 || len(got.Errors) > 0 {
		t.Errorf("counts %+v, want 40 requests of 5 bytes and replies of 4", got)
	}
	trust["path"], trust["verify"] = "/varying", "status"
	setup.Options, setup.Exchange = trust, Blocks(0, 1)
	if got := drive(t, setup); got.Exchanges != 40 || got.ReceivedBytes <= 40 || len(got.Errors) > 0 {
		t.Errorf("counts %+v, want what came", got)
	}
}

// RequestsDiffer demands that each request is filled with the row and the values of its
// number, that no two have the same number, and that what was sent is counted.
func RequestsDiffer(t *testing.T, transport string, http2, encrypted bool, drive Drive) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "rows")
	w, err := rows.Create(name, 2)
	for _, field := range []string{"1", "tea", "22", `a "b"/c`, "333", strings.Repeat("long ", 1000)} {
		if err == nil {
			err = w.Add([]byte(field))
		}
	}
	if err == nil {
		err = w.Close(77)
	}
	if err != nil {
		t.Fatal(err)
	}
	file, err := rows.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = file.Close() })
	const path, body, header = "/o/{0u}?q={1u}&n={n}", `{{"name":"{1j}","id":"{uuid}"}`, "x-{random8}-{{{0}"
	var mu sync.Mutex
	var got []string
	at, trust := ServeRequests(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		got = append(got, r.RequestURI+"\n"+r.Header.Get("X-Row")+"\n"+string(body))
	}), http2, encrypted)
	const first, connections, amount = 5, 3, 4
	setup := contract.Setup{
		Transport: transport, Role: contract.Client, Seed: 3, Peers: []string{at}, Exchange: Blocks(60, 0), Load: contract.Load{Connections: connections, Amount: amount},
		Options: map[string]any{
			"path": path, "body": body, "headers": "X-Row: " + header, "verify": "status", "method": "POST",
			"data": "@" + name, "data_first": float64(first), "pick": "random",
		},
	}
	maps.Copy(setup.Options, trust)
	if encrypted {
		setup.TLS = &contract.TLS{Authorities: Certificate(t).Authorities}
	}
	counts := drive(t, setup)
	source, sent, want := rows.NewSource(file, 3, first, true), int64(0), []string(nil)
	for n := range uint64(connections + connections*amount) {
		var texts []string
		for _, text := range []string{path, header, body} {
			template, err := rows.ParseTemplate(text, 2)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(template.Append(nil, source.Of(n, 0))))
		}
		if want = append(want, strings.Join(texts, "\n")); n >= connections {
			sent += int64(len(texts[2]))
		}
	}
	got = slices.DeleteFunc(got, func(r string) bool { return strings.Contains(r, "&n=9223372036854775") }) // of neither
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("asked for %.2000q, want %.2000q", got, want)
	}
	if counts.Exchanges != connections*amount || counts.SentBytes != sent || len(counts.Errors) > 0 {
		t.Errorf("counts %+v, want %d requests of %d bytes together", counts, connections*amount, sent)
	}
}

// PathsTakeTurns demands that every connection asks for one path after the other, from its
// own share of the list on, as they are written, and that any status 2xx will do.
func PathsTakeTurns(t *testing.T, transport string, http2 bool, drive Drive) {
	t.Helper()
	want := []string{"/a?q=%41", "/b//c", "/d/../e", "/none"}
	list := filepath.Join(t.TempDir(), "paths.txt")
	if err := os.WriteFile(list, []byte("# four\n"+strings.Join(want, "\n\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	asked := map[string][]string{} // by connection
	at, _ := ServeRequests(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.RemoteAddr] = append(asked[r.RemoteAddr], r.RequestURI)
		mu.Unlock()
		if r.URL.Path == "/none" {
			w.WriteHeader(http.StatusNoContent)
		} else {
			_, _ = io.WriteString(w, r.RequestURI)
		}
	}), http2, false)
	got := drive(t, contract.Setup{
		Transport: transport, Role: contract.Client, Peers: []string{at}, Load: contract.Load{Connections: 2, Amount: 20},
		Options: map[string]any{"paths": list, "verify": "status"},
	})
	if got.Exchanges != 40 || len(got.Errors) > 0 {
		t.Errorf("counts %+v, want 40 exchanges", got)
	}
	begun := map[string]bool{}
	for from, paths := range asked {
		begun[paths[0]] = true
		if paths[0] == paths[1] { // a load may begin with the path of the verified exchange
			paths = paths[1:]
		}
		first := slices.Index(want, paths[0])
		for i, path := range paths {
			if path != want[(first+i)%len(want)] {
				t.Errorf("%s asks for %q, want them in turn", from, paths)
				break
			}
		}
	}
	if len(asked) != 2 || !begun[want[0]] || !begun[want[2]] {
		t.Errorf("%d connections begin at %v, want two, half the list apart", len(asked), begun)
	}
}
