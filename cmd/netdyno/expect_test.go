package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
)

// A server that answers one request in five otherwise, of the same length and status, is
// told from one that does not by the client alone: the first requests were before.
func TestABodyThatDiffersIsAFailedExchange(t *testing.T) {
	t.Parallel()
	_, _, clients := withClients(t)
	const none = "not $.fault == null"
	for n, c := range []struct{ expect, client, says string }{
		{"body", "go-http1", "body differs"}, {"body", "fasthttp", "body differs"}, {"regexp:null}$", "go-http1", "body differs"}, {"body", "go-http2", "body differs"},
		{"json:$.fault == null", "go-http1", none}, {"json:$.fault == null", "http1-asio", none}, {"json:$.fault == null", "h2-uring", none},
		{"body", "http1-uring", "body differs"}, {"regexp:null}$", "http1-asio", "body differs"}, {"body", "h2-asio", "body differs"},
	} {
		if !slices.Contains(clients, c.client) {
			continue // its library is not here
		}
		var asked atomic.Int64
		server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			text := `{"fault":null}`
			if n := asked.Add(1); n > 20 && n%5 == 0 {
				text = `{"fault":true}`
			}
			_, _ = fmt.Fprint(w, text)
		}))
		server.Config.Protocols = new(http.Protocols)
		server.Config.Protocols.SetHTTP1(true)
		server.Config.Protocols.SetUnencryptedHTTP2(true)
		server.Start()
		t.Cleanup(server.Close)
		argv := []string{server.URL, "--expect", c.expect, "client=" + c.client, "-c", "1", "amount=400", "blocks=1", "--max-errors", "50%"}
		if strings.Contains(c.client, "h2") || c.client == "go-http2" {
			argv = append(argv, "--http2")
		}
		said, out, err := undisturbed(t, "", func() { asked.Store(0) }, argv...)
		records, _ := os.ReadFile(filepath.Join(out, "records.jsonl"))
		if !strings.Contains(said, c.says) || !strings.Contains(string(records), strconv.Quote(c.says)) {
			t.Errorf("%d: %s by %s: %v, %s", n, c.expect, c.client, err, said)
		}
	}
}
