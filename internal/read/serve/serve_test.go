package serve

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"netdyno/internal/read/follow"
	"netdyno/internal/record"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// served starts a server of a directory and returns its address.
func served(t *testing.T, dir string) string {
	t.Helper()
	results, err := follow.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- Serve(ctx, listener, options(results)) }()
	t.Cleanup(func() {
		cancel()
		http.DefaultClient.CloseIdleConnections()
		if err := <-ended; err != nil {
			t.Errorf("the server ended with: %v", err)
		}
	})
	return "http://" + listener.Addr().String()
}

func options(results *follow.Results) Options {
	return Options{Results: results, Log: io.Discard}
}

func get(t *testing.T, address string) (status int, text string) {
	t.Helper()
	r, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body)
}

const hostile = "<b>odd"

// laidOut makes a directory with a run that goes on, two complete ones, a damaged one
// and one with hostile names.
func laidOut(t *testing.T) (dir string, running *sample) {
	t.Helper()
	dir = t.TempDir()
	for i, name := range []string{"first", "second"} {
		s := begin(t, filepath.Join(dir, name), func(h *record.Header) { h.CreatedAt = h.CreatedAt.Add(time.Duration(i-9) * time.Hour) })
		s.add(len(s.trials))
		s.end()
	}
	odd := begin(t, filepath.Join(dir, "tour", hostile), func(h *record.Header) { h.Study.Question = "</title><script>alert(1)</script>\x1b[2J" })
	odd.add(2)
	odd.end()
	if err := os.Mkdir(filepath.Join(dir, "damaged"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "damaged", record.RecordsFile), []byte("no line\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	running = begin(t, filepath.Join(dir, "running"), asItIs)
	running.add(1)
	return dir, running
}

func TestPages(t *testing.T) {
	dir, running := laidOut(t)
	outside := begin(t, filepath.Join(t.TempDir(), "outside"), asItIs)
	outside.end()
	if err := os.Symlink(outside.dir, filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "first", "profiles"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "first", "profiles", "go-net-server.pprof"), []byte("a profile"), 0o600); err != nil {
		t.Fatal(err)
	}
	at := served(t, dir)
	for _, test := range []struct {
		path   string
		status int
		has    []string
	}{
		{"/", 200, []string{"48 of 48 trials", "1 of 48 trials", "incomplete", "unreadable", "&lt;b&gt;odd", "/runs/tour/%3Cb%3Eodd/"}},
		{"/runs/first/", 200, []string{"complete", "48 of 48 trials"}},
		{"/runs/first", 200, []string{"48 of 48 trials"}},
		{"/runs/running/", 200, []string{`http-equiv="refresh"`, "1 of 48 trials"}},
		{"/runs/tour/%3Cb%3Eodd/", 200, []string{"netdyno run", "--continue", "&lt;script&gt;"}},
		{"/runs/first/report.html", 200, []string{"netdyno report", `id="figures"`}},
		{"/runs/tour/%3Cb%3Eodd/report.html", 200, []string{"netdyno report"}},
		{"/runs/first/trials/b01-001.json", 200, []string{`"id":"b01-001"`, `"workers":`}},
		{"/runs/first/trials/b99-001.json", 404, nil},
		{"/runs/first/profiles/go-net-server.pprof", 200, []string{"a profile"}},
		{"/runs/first/profiles/go-epoll-server.pprof", 404, nil},
		{"/runs/first/profiles/..%2frecords.pprof", 404, nil},
		{"/runs/damaged/", 500, []string{"no line"}},
		{"/runs/damaged/report.html", 500, []string{"no line"}},
		{"/runs/nowhere/", 404, nil},
		{"/runs/link/", 404, nil},
		{"/runs/..%2f..%2fetc/", 404, nil},
		{"/runs/tour/../first/events/", 404, nil},
		{"/runs/tour/", 404, nil},
		{"/runs/second/../tour/x/", 404, nil},
		{"/runs/first/records.jsonl", 404, nil},
		{"/runs/first/trials/..%2f..%2fsecond.json", 404, nil},
		{"/anything", 404, nil},
	} {
		status, text := get(t, at+test.path)
		if status != test.status {
			t.Errorf("%s: status %d, want %d: %.200s", test.path, status, test.status, text)
		}
		for _, part := range test.has {
			if !strings.Contains(text, part) {
				t.Errorf("%s has no %q", test.path, part)
			}
		}
		if strings.Contains(text, "<script>alert") || strings.Contains(text, hostile) || strings.Contains(text, "\x1b") {
			t.Errorf("%s lets a hostile name through", test.path)
		}
	}
	running.end()
}

// A directory that vanishes is said to be gone, and comes back.
func TestTheDirectoryVanishes(t *testing.T) {
	dir, running := laidOut(t)
	running.end()
	at := served(t, dir)
	get(t, at+"/")
	if err := os.Rename(dir, dir+"-away"); err != nil {
		t.Fatal(err)
	}
	if status, text := get(t, at+"/"); status != 404 || !strings.Contains(text, "cannot be read any more") {
		t.Errorf("a list of what is gone: status %d: %s", status, text)
	}
	if status, _ := get(t, at+"/runs/first/report.html"); status != 404 {
		t.Errorf("a report of what is gone: status %d", status)
	}
	if err := os.Rename(dir+"-away", dir); err != nil {
		t.Fatal(err)
	}
	if status, text := get(t, at+"/"); status != 200 || !strings.Contains(text, "second") {
		t.Errorf("a list of what came back: status %d", status)
	}
}

// until asks for a page until it has a text.
func until(t *testing.T, address, text string) {
	t.Helper()
	seen := ""
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(lookEvery / 5) {
		if _, seen = get(t, address); strings.Contains(seen, text) {
			return
		}
	}
	t.Fatalf("the page has no %q: %s", text, seen)
}

func TestARunIsFollowed(t *testing.T) {
	dir, running := laidOut(t)
	at := served(t, dir) + "/runs/running/"
	until(t, at, "1 of 48 trials")
	running.tick()
	until(t, at, running.trials[running.done].ID)
	running.tick()
	until(t, at, "10.0 k/s")
	until(t, at, "p99 450 µs")
	running.add(23)
	until(t, at, "24 of 48 trials")
	until(t, at, "ratio to go-net")
	if _, text := get(t, at); !strings.Contains(text, `http-equiv="refresh"`) {
		t.Errorf("the page of a run that goes on does not load itself again: %s", text)
	}
	running.add(24)
	running.end()
	until(t, at, "state complete")
	if _, text := get(t, at); strings.Contains(text, `http-equiv="refresh"`) {
		t.Errorf("the page of a run that has ended loads itself again: %s", text)
	}
}

// However many browsers follow runs, each run is read once in a while, and few stay open.
func TestReadersShareOneReading(t *testing.T) {
	dir, running := laidOut(t)
	defer running.end()
	results, err := follow.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	w := &watches{results: results}
	defer w.close()
	page, err := w.pageOf("running")
	if err != nil {
		t.Fatal(err)
	}
	w.all[0].at = time.Now().Add(time.Hour)
	running.add(1)
	if again, err := w.pageOf("running"); err != nil || string(again) != string(page) {
		t.Errorf("a page was made again before its time (%v)", err)
	}
	for i := range mostWatched + 3 {
		name := fmt.Sprintf("more-%d", i)
		begin(t, filepath.Join(dir, name), asItIs).end()
		if _, err := w.pageOf(name); err != nil {
			t.Fatal(err)
		}
	}
	if len(w.all) != mostWatched || w.all[0].name != "more-3" {
		t.Errorf("%d runs are open, the oldest %s", len(w.all), w.all[0].name)
	}
}

func TestARunThatVanishesIsSaidToBeGone(t *testing.T) {
	dir, running := laidOut(t)
	at := served(t, dir)
	until(t, at+"/runs/running/", "1 of 48")
	running.end()
	if err := os.RemoveAll(running.dir); err != nil {
		t.Fatal(err)
	}
	until(t, at+"/runs/running/", "Gone")
	if status, _ := get(t, at+"/runs/running/report.html"); status != 404 {
		t.Errorf("status %d of a run that is gone, want 404", status)
	}
}

func TestGuard(t *testing.T) {
	results, err := follow.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const token = "0123456789abcdef"
	open := &server{Options: options(results)}
	locked := &server{Options: options(results)}
	locked.Token, locked.Names = token, []string{"lab.example"}
	for _, test := range []struct {
		name    string
		server  *server
		method  string
		host    string
		headers map[string]string
		query   string
		status  int
	}{
		{"plain", open, "GET", "127.0.0.1:8080", nil, "", 200},
		{"head", open, "HEAD", "localhost:8080", nil, "", 200},
		{"address of version 6", open, "GET", "[::1]:8080", nil, "", 200},
		{"post", open, "POST", "localhost:8080", nil, "", 405},
		{"rebinding", open, "GET", "evil.example", nil, "", 421},
		{"no host", open, "GET", "", nil, "", 421},
		{"name of another server", open, "GET", "lab.example", nil, "", 421},
		{"other origin", open, "GET", "localhost:8080", map[string]string{"Origin": "http://evil.example"}, "", 403},
		{"other port", open, "GET", "localhost:8080", map[string]string{"Origin": "http://localhost:9090"}, "", 403},
		{"no origin at all", open, "GET", "localhost:8080", map[string]string{"Origin": "null"}, "", 403},
		{"own origin", open, "GET", "localhost:8080", map[string]string{"Origin": "http://localhost:8080"}, "", 200},
		{"another site's picture", open, "GET", "localhost:8080", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}, "", 403},
		{"another site's link", open, "GET", "localhost:8080", map[string]string{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}, "", 200},
		{"no token", locked, "GET", "lab.example:80", nil, "", 401},
		{"wrong token", locked, "GET", "lab.example:80", map[string]string{"Authorization": "Bearer 0123456789abcdeF"}, "", 401},
		{"wrong token in the address", locked, "GET", "lab.example:80", nil, "?token=x", 401},
		{"token", locked, "GET", "lab.example:80", map[string]string{"Authorization": "Bearer " + token}, "", 200},
		{"cookie", locked, "GET", "lab.example:80", map[string]string{"Cookie": "netdyno-token-80=" + token}, "", 200},
		{"another port's cookie", locked, "GET", "lab.example:80", map[string]string{"Cookie": "netdyno-token-81=" + token}, "", 401},
		{"token in the address", locked, "GET", "lab.example:80", nil, "?token=" + token, 303},
	} {
		r := httptest.NewRequest(test.method, "http://there/"+test.query, nil)
		r.Host = test.host
		for key, value := range test.headers {
			r.Header.Set(key, value)
		}
		w := httptest.NewRecorder()
		test.server.guard(test.server.routes()).ServeHTTP(w, r)
		if w.Code != test.status {
			t.Errorf("%s: status %d, want %d", test.name, w.Code, test.status)
		}
		if w.Header().Get("X-Content-Type-Options") != "nosniff" || !strings.Contains(w.Header().Get("Content-Security-Policy"), "default-src 'none'") {
			t.Errorf("%s: the answer lacks its guards: %v", test.name, w.Header())
		}
		if test.status == http.StatusSeeOther && (w.Header().Get("Location") != "/" || !strings.Contains(w.Header().Get("Set-Cookie"), "HttpOnly; SameSite=Strict")) {
			t.Errorf("%s: leads to %q with cookie %q", test.name, w.Header().Get("Location"), w.Header().Get("Set-Cookie"))
		}
	}
}
