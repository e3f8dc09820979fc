package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// pathsFile writes a list and returns its name.
func pathsFile(t *testing.T, lines string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "paths.txt")
	if err := os.WriteFile(name, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestPathsTakeTurns: every connection asks for one path after the other, from its
// own share of the list on, as they are written, and any status 2xx will do.
func TestPathsTakeTurns(t *testing.T) {
	t.Parallel()
	const lines = "# four\n/a?q=%41\n/b//c\n\n/d/../e\n/none\n"
	for _, client := range []string{"go-http1", "fasthttp", "go-http2"} {
		t.Run(client, func(t *testing.T) {
			t.Parallel()
			var mu sync.Mutex
			asked := map[string][]string{} // by connection
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				mu.Lock()
				asked[r.RemoteAddr] = append(asked[r.RemoteAddr], r.RequestURI)
				mu.Unlock()
				if r.URL.Path == "/none" {
					w.WriteHeader(http.StatusNoContent)
				} else {
					_, _ = io.WriteString(w, r.RequestURI)
				}
			})
			server, options := serveAsked(t, handler, client == "go-http2", false)
			options["paths"], options["verify"] = pathsFile(t, lines), "status"
			driven(t, contract.Setup{Transport: client, Peers: []string{server}, Options: options})
			want := []string{"/a?q=%41", "/b//c", "/d/../e", "/none"}
			begun := map[string]bool{}
			for from, list := range asked {
				first := 0
				for first < len(want) && want[first] != list[0] {
					first++
				}
				begun[list[0]] = true
				for i, path := range list {
					if path != want[(first+i)%len(want)] {
						t.Errorf("%s asks for %q, want them in turn", from, list)
						break
					}
				}
			}
			if len(asked) != 2 || !begun[want[0]] || !begun[want[2]] {
				t.Errorf("%d connections begin at %v, want two, half the list apart", len(asked), begun)
			}
		})
	}
}

func TestPathsAreChecked(t *testing.T) {
	t.Parallel()
	server, _ := serveAsked(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			http.NotFound(w, r)
		}
	}), false, false)
	setup := func(client string, options map[string]any) contract.Setup {
		return contract.Setup{Transport: client, Role: contract.Client, Peers: []string{server}, Load: contract.Load{Connections: 1, Amount: 4}, Options: options}
	}
	for _, c := range []struct {
		lines, verify, path, want string
	}{
		{"/a\nb\n", "status", "/exchange", `paths.txt:2: "b" is not a path`},
		{"/a\n", "length", "/exchange", "expected verify=status"},
		{"/a\n", "status", "/x", "expected one of them"},
		{"# none\n", "status", "/exchange", "holds no path"},
	} {
		options := map[string]any{"paths": pathsFile(t, c.lines), "verify": c.verify, "path": c.path}
		if e := workertest.Refused(t, all, setup("fasthttp", options)); e.Kind != contract.SetupFailed || !strings.Contains(e.Text, c.want) {
			t.Errorf("%+v: %+v", c, e)
		}
	}
	for file, want := range map[string]string{t.TempDir(): "is no regular file", "/nowhere.txt": "no such file"} {
		options := map[string]any{"paths": file, "verify": "status"}
		if e := workertest.Refused(t, all, setup("go-http1", options)); e.Kind != contract.SetupFailed || !strings.Contains(e.Text, want) {
			t.Errorf("%s: %+v", file, e)
		}
	}
	for _, client := range []string{"go-http1", "fasthttp"} {
		options := map[string]any{"paths": pathsFile(t, "/gone\n/here\n"), "verify": "status"}
		if e := workertest.Refused(t, all, setup(client, options)); e.Kind != contract.Invalid || !strings.Contains(e.Text, "/gone: the reply has status 404") || !strings.Contains(e.Text, "expected 2xx") {
			t.Errorf("%s: %+v", client, e)
		}
	}
}
