package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// A server that answers one request in five otherwise, of the same length and status, is
// told from one that does not by the client alone: the first requests were before.
func TestABodyThatDiffersIsAFailedExchange(t *testing.T) {
	t.Parallel()
	for n, c := range []struct{ expect, client string }{
		{"body", "go-http1"}, {"body", "fasthttp"}, {"regexp:^same", "go-http1"}, {"body", "go-http2"},
	} {
		var asked atomic.Int64
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			text := "same"
			if n := asked.Add(1); n > 20 && n%5 == 0 {
				text = "sane"
			}
			_, _ = fmt.Fprint(w, text)
		}))
		server.Config.Protocols = new(http.Protocols)
		server.Config.Protocols.SetHTTP1(true)
		server.Config.Protocols.SetUnencryptedHTTP2(true)
		server.Start()
		t.Cleanup(server.Close)
		argv := []string{server.URL, "--expect", c.expect, "client=" + c.client, "-c", "1", "amount=400", "blocks=1", "--max-errors", "50%"}
		if c.client == "go-http2" {
			argv = append(argv, "--http2")
		}
		said, out, err := undisturbed(t, "", func() { asked.Store(0) }, argv...)
		records, _ := os.ReadFile(filepath.Join(out, "records.jsonl"))
		if !strings.Contains(said, "body differs") || !strings.Contains(string(records), `"body differs"`) {
			t.Errorf("%d: %s by %s: %v, %s", n, c.expect, c.client, err, said)
		}
	}
}
