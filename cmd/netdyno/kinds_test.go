package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Requests of several kinds are the same by native clients and by those on Go's libraries, and so
// is what is counted of each kind; a native client is chosen for them.
func TestEveryClientSendsTheSameKinds(t *testing.T) {
	t.Parallel()
	_, _, clients := withClients(t)
	server := newRecorder(t, nil)
	work := t.TempDir()
	for name, text := range map[string]string{
		"mix.yaml": `classes:
  - {name: browse, weight: 5, method: GET, path: "/items/{key}"}
  - {name: buy, weight: 3, path: /orders, body: '{"a": 1}', headers: {Content-Type: a/json, X-Key: own}, deadline: 20s}
  - {name: put, weight: 1, method: PUT, path: "/a?k={key}", body: "` + strings.Repeat("b", 800) + `", status: 200}
  - {name: head, weight: 1, method: HEAD, path: /h}
keys: {zipf: {n: 50, s: 1}}
`,
		"paths": "/a\n# none\n/b?c=%20\n\n/d\n",
	} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	kinds := func(said string) (rows []string) {
		for line := range strings.Lines(said) {
			if f := strings.Fields(line); len(f) > 2 && slices.Contains([]string{"browse", "buy", "put", "head", "/a", "/b?c=%20", "/d"}, f[0]) {
				rows = append(rows, f[0]+" "+f[1])
			}
		}
		return rows
	}
	for _, asks := range [][]string{{"--workload", "mix.yaml", "-H", "X-Key: all"}, {"--paths", "paths"}} {
		for general, natives := range map[string][]string{"go-http1": {"http1-uring", "http1-asio"}, "go-http2": {"h2-uring", "h2-asio"}} {
			var want, rows []string
			for i, client := range append([]string{general}, natives...) {
				if !slices.Contains(clients, client) {
					continue
				}
				argv := append([]string{server.URL + "/", "client=" + client, "-c", "2", "-n", "60"}, asks...)
				if general == "go-http2" {
					argv = append(argv, "--http2")
				}
				said, _, err := undisturbed(t, work, func() { server.took() }, argv...)
				got, _ := server.took()
				slices.Sort(got)
				if i == 0 {
					want, rows = got, kinds(said)
				}
				if err != nil || !strings.Contains(said, "60 requests answered") || len(got) < 3 || !slices.Equal(got, want) || len(rows) < 3 || !slices.Equal(kinds(said), rows) {
					t.Errorf("%s %q: the server got %q, %q\nby %s %q, %q; %v\n%s", client, asks, got, kinds(said), general, want, rows, err, said)
				}
			}
			if slices.Contains(clients, natives[1]) {
				argv := append([]string{server.URL + "/", "-m", "20", "-n", "20"}, asks...)
				if general == "go-http2" {
					argv = append(argv, "--http2")
				}
				wire := strings.TrimSuffix(natives[1], "asio")
				if said, _, err := undisturbed(t, work, func() {}, argv...); err != nil || !strings.Contains(said, "asked by "+wire) {
					t.Errorf("%q: %v\n%s", argv, err, said)
				}
			}
		}
	}
}
