package foreign_test

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdyno/test/programs"
)

func netdyno(t *testing.T, args ...string) (said string, status int) {
	t.Helper()
	c := exec.CommandContext(t.Context(), filepath.Join(bin, "netdyno"), args...)
	c.Dir = t.TempDir()
	text, _ := c.CombinedOutput() // its status tells
	return string(text), c.ProcessState.ExitCode()
}

// The log that nginx wrote of some requests is replayed on nginx: it is asked for the same
// paths by the same methods, but for what has a body that no log holds, answers with the same statuses, and logs as many requests as
// the run says that it sent.
func TestARealLogIsReplayed(t *testing.T) {
	need(t, []string{"nginx"}, "go-http1")
	own, port := t.TempDir(), freePort(t)
	if err := os.WriteFile(filepath.Join(own, "page"), make([]byte, 3000), 0o600); err != nil {
		t.Fatal(err)
	}
	argv, err := programs.Nginx{
		Own: own, Root: own, Listen: "127.0.0.1:" + port, HTTP: "keepalive_requests 1000000;",
		Server: "access_log " + own + "/access combined; location /api { return 201; } location /old { return 302 /page; }",
	}.Command()
	if err != nil {
		t.Fatal(err)
	}
	programs.Start(t, "127.0.0.1:"+port, argv...)
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	defer client.CloseIdleConnections()
	for range 40 {
		for _, ask := range []string{"GET /page?token=secret", "GET /missing", "GET /old", "POST /api/buy"} {
			method, path, _ := strings.Cut(ask, " ")
			request, err := http.NewRequest(method, "http://127.0.0.1:"+port+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := client.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			_ = reply.Body.Close() // nothing is read of it
		}
		time.Sleep(20 * time.Millisecond)
	}
	log := filepath.Join(own, "access")
	recorded := filepath.Join(t.TempDir(), "access.log")
	before, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(recorded, append(before, "torn \x1b[31mline\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	url := "http://127.0.0.1:" + port + "/page"
	if said, status := netdyno(t, url, "--workload", recorded); status != 2 || !strings.Contains(said, "no bodies of 40 requests (POST /api)") {
		t.Errorf("status %d: %s", status, said)
	}
	read := filepath.Join(t.TempDir(), "read.rec")
	if said, status := netdyno(t, "record", "nginx", recorded, "--paths", "--methods", "GET", "-o", read); status != 1 || !strings.Contains(said, "120 requests in") || !strings.Contains(said, "1 not of this format") || strings.Contains(said, "\x1b[31m") {
		t.Errorf("status %d: %s", status, said)
	}
	sent, screen := measure(t, url, "--workload", read, "--speed", "2", "-c", "4", "window=1s", "blocks=2")
	if !strings.Contains(screen, "none failed") {
		t.Errorf("%s", screen)
	}
	after, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(after[len(before):])), "\n")
	sent.agrees(t, int64(len(lines)), false)
	asked := map[string]int{}
	for _, line := range lines {
		parts := strings.Split(line, `"`)
		asked[fmt.Sprint(parts[1], parts[2][:4])]++
	}
	for _, want := range []string{"GET /page HTTP/1.1 200", "GET /missing HTTP/1.1 404", "GET /old HTTP/1.1 302"} {
		if asked[want] < 5 {
			t.Errorf("%q came %d times: %v", want, asked[want], asked)
		}
	}
}
