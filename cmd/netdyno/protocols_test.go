package main

import (
	"encoding/json"
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"netdyno/test/programs"
)

// Protocols of one URL are arms, each asked by its own protocol alone.
func TestProtocolsOfOneURL(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	var mu sync.Mutex
	asked := map[string]int{} // requests by protocol
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		asked[r.Proto]++
		mu.Unlock()
		_, _ = io.WriteString(w, "ok")
	})
	s := httptest.NewUnstartedServer(handler)
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	overQUIC(t, s, handler)
	own, work := t.TempDir(), t.TempDir()
	if err := os.Symlink(programs.Path(t, "netdyno-worker-quic"), filepath.Join(own, "netdyno-worker-quic")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(work, "ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), "run", s.URL, "--ca", "ca.pem", "--http1.1", "--http2", "--http3", "-n", "40", "-c", "2", "--as-json", "--out", "out")
	c.Dir, c.Env = work, append(os.Environ(), "PATH="+own+":"+path)
	var said strings.Builder
	c.Stderr = &said
	text, err := c.Output()
	if err != nil {
		t.Fatalf("%v: %s%s", err, text, said.String())
	}
	var result struct {
		Asked []string
		Loads []struct{ Arm string }
	}
	if err := json.Unmarshal(text, &result); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var arms []string
	for _, load := range result.Loads {
		arms = append(arms, load.Arm)
	}
	if slices.Sort(arms); !slices.Equal(arms, []string{"HTTP/1.1", "HTTP/2", "HTTP/3"}) {
		t.Errorf("arms %q of %s", arms, text)
	}
	if lines := strings.Join(result.Asked, "\n"); !strings.Contains(lines, "go-http1, go-http2 and go-http3") {
		t.Errorf("it is not said which clients ask: %s", lines)
	}
	for _, protocol := range []string{"HTTP/1.1", "HTTP/2.0", "HTTP/3.0"} {
		if asked[protocol] < 40 {
			t.Errorf("requests by protocol: %v; want 40 of %s", asked, protocol)
		}
	}
}

// Clients of one URL are arms, and a time is as long as for several URLs.
func TestClientsOfOneURL(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	defer s.Close()
	c := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), "run", s.URL, "client=go-http1,fasthttp", "-d", "2s", "--dry-run")
	c.Dir, c.Env = t.TempDir(), append(os.Environ(), "PATH="+path)
	if text, err := c.CombinedOutput(); err != nil || !strings.Contains(string(text), "  fasthttp") {
		t.Errorf("%v: %s", err, text)
	}
}
