package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	grpcstatus "google.golang.org/grpc/status"

	"netdyno/test/programs"
)

// translated is a row of docs/servers.md: a tool, what is typed there, and the same here.
var translated = regexp.MustCompile("(?m)^\\| ([^|]+) \\| `[^|]*` \\| `([^|]*netdyno [^|]*)` \\|")

// What docs/servers.md says to type in place of other tools' commands asks servers for what
// was meant, which refuse all else.
func TestCommandsOfOtherToolsAreTranslated(t *testing.T) {
	bin := filepath.Dir(programs.Path(t, "netdyno"))
	text, err := os.ReadFile("../../docs/servers.md")
	if err != nil {
		t.Fatal(err)
	}
	proto, err := os.ReadFile("../../test/servers/apps/test.proto")
	if err != nil {
		t.Fatal(err)
	}
	rows := translated.FindAllStringSubmatch(string(text), -1)
	if len(rows) != 10 {
		t.Fatalf("%d rows, want 10", len(rows))
	}
	var asked atomic.Int64
	web, calls := strictSite(t, &asked), strictCalls(t, &asked)
	here := strings.NewReplacer("127.0.0.1:8080", web, "127.0.0.1:50051", calls, "10s", "1s")
	for _, row := range rows {
		tool, line := row[1], here.Replace(row[2])
		t.Run(tool, func(t *testing.T) {
			dir := t.TempDir()
			for name, content := range map[string]string{
				"order.json": `{"item": "tea"}`, "targets.txt": "GET http://" + web + "/a\nGET http://" + web + "/b?c=1\n", "test.proto": string(proto),
			} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			asked.Store(0)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			c := exec.CommandContext(ctx, "sh", "-c", line)
			c.Dir, c.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"), "XDG_CACHE_HOME="+dir)
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "none failed") || asked.Load() < 20 {
				t.Errorf("%s\n%v, %d requests came\n%s", line, err, asked.Load(), out)
			}
		})
	}
}

// strictSite is a web server that answers 400 to what was not meant, and returns its
// address.
func strictSite(t *testing.T, asked *atomic.Int64) string {
	meant := map[string]func(r *http.Request, body string) bool{
		"/cart": func(r *http.Request, _ string) bool {
			sid, err := r.Cookie("sid")
			return err == nil && sid.Value == "7" && r.Header.Get("Accept") == "application/json" && r.Header.Get("Sec-Fetch-Mode") == "cors" && r.URL.RawQuery == "q=tea" && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip")
		},
		"/orders": func(r *http.Request, body string) bool {
			return r.Method == http.MethodPost && r.Header.Get("Content-Type") == "application/json" && body == `{"item": "tea"}`
		},
		"/keyed": func(r *http.Request, _ string) bool { return r.Header.Get("X-Key") == "1" },
		"/":      func(r *http.Request, _ string) bool { return r.Method == http.MethodGet },
		"/a":     func(*http.Request, string) bool { return true },
		"/b":     func(r *http.Request, _ string) bool { return r.URL.RawQuery == "c=1" },
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		body, err := io.ReadAll(r.Body)
		if is := meant[r.URL.Path]; err != nil || is == nil || !is(r, string(body)) {
			http.Error(w, "not meant", http.StatusBadRequest)
			return
		}
		_, _ = w.Write([]byte("hello")) // the client may be gone
	}))
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP1(true)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Start()
	t.Cleanup(server.Close)
	return server.Listener.Addr().String()
}

// strictCalls is a gRPC server that answers calls for 100 bytes, and returns its address.
func strictCalls(t *testing.T, asked *atomic.Int64) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.UnaryInterceptor(func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, handle grpc.UnaryHandler) (any, error) {
		asked.Add(1)
		given, _ := metadata.FromIncomingContext(ctx) // none of most
		if r, is := request.(*pb.SimpleRequest); !is || r.GetResponseSize() != 100 || len(given.Get("x-key")) > 0 && given.Get("x-key")[0] != "1" {
			return nil, grpcstatus.Error(codes.InvalidArgument, "not meant")
		}
		return handle(ctx, request)
	}))
	pb.RegisterTestServiceServer(server, shop{})
	reflection.Register(server)
	go func() { _ = server.Serve(l) }() // ends with Stop
	t.Cleanup(server.Stop)
	return l.Addr().String()
}
