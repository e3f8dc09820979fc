package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
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

func TestPathsAreChecked(t *testing.T) {
	t.Parallel()
	server, _ := workertest.ServeRequests(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
