package main

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"netdyno/internal/run/target"
	"netdyno/test/programs"
	"netdyno/test/trials"
)

// recorder is a server of somebody else's that keeps each request that it gets, once.
type recorder struct {
	*httptest.Server
	mu    sync.Mutex
	seen  []string
	times int
}

func newRecorder(t *testing.T, l net.Listener) *recorder {
	r := &recorder{}
	r.Server = httptest.NewUnstartedServer(r)
	if l != nil {
		_ = r.Listener.Close() // nobody has connected to it
		r.Listener = l
	}
	r.Config.Protocols = new(http.Protocols)
	r.Config.Protocols.SetHTTP1(true)
	r.Config.Protocols.SetUnencryptedHTTP2(true)
	r.Start()
	t.Cleanup(r.Close)
	return r
}

// ServeHTTP implements http.Handler.
func (r *recorder) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	host := strings.Replace(q.Host, strings.TrimPrefix(r.URL, "http://"), "SELF", 1)
	text := fmt.Sprintf("%s %s of %s", q.Method, q.RequestURI, host)
	var names []string
	for name := range q.Header {
		if name != "Content-Length" && (name != "User-Agent" || strings.HasPrefix(q.UserAgent(), "me/")) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		text += fmt.Sprintf("; %s: %s", name, strings.Join(q.Header[name], ","))
	}
	if len(body) > 0 {
		text += fmt.Sprintf("; %q", body)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.times++; !slices.Contains(r.seen, text) {
		r.seen = append(r.seen, text)
	}
}

// took returns what came, each once, and how often anything did, and forgets it.
func (r *recorder) took() (seen []string, times int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	seen, times = r.seen, r.times
	r.seen, r.times = nil, 0
	return seen, times
}

// withClients is the directory of a netdyno with the clients of HTTP and gRPC that are here, and
// the PATH on which it finds those that are not beside it.
func withClients(t *testing.T) (directory, path string, clients []string) {
	t.Helper()
	directory, path, clients = installed(t), os.Getenv("PATH"), []string{"go-http1", "go-http2"}
	for _, other := range []string{"fasthttp", "http1-uring", "http1-asio", "h2-uring", "h2-asio", "grpc-nghttp2", "grpc-nghttp2-asio"} {
		built := filepath.Join(filepath.Dir(programs.Path(t, "netdyno")), "netdyno-worker-"+other)
		if info, err := os.Stat(built); err == nil && info.Mode().IsRegular() {
			own := t.TempDir()
			if err := os.Symlink(built, filepath.Join(own, filepath.Base(built))); err != nil {
				t.Fatal(err)
			}
			path = own + ":" + path
			clients = append(clients, other)
		}
	}
	return directory, path, clients
}

// undisturbed runs netdyno with the clients that are here into a directory of the run's own,
// and again, after begin, where a busy machine disturbed a trial.
func undisturbed(t *testing.T, work string, begin func(), argv ...string) (said, out string, err error) {
	t.Helper()
	directory, path, _ := withClients(t)
	trials.Repeat(func() bool {
		begin()
		out = filepath.Join(t.TempDir(), "out")
		run := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), append(slices.Clone(argv), "--out", out)...)
		run.Dir, run.Env = work, append(os.Environ(), "PATH="+path)
		text, failed := run.CombinedOutput()
		said, err = string(text), failed
		return strings.Contains(said, " invalid") || strings.Contains(said, "did not run")
	})
	return said, out, err
}

// What curl would send is what netdyno sends first, and every client, byte for byte.
func TestTheServerGetsWhatWasTyped(t *testing.T) {
	t.Parallel()
	directory, path, clients := withClients(t)
	clients = slices.DeleteFunc(clients, func(name string) bool { return strings.HasPrefix(name, "grpc") })
	server := newRecorder(t, nil)
	work := t.TempDir()
	token := strings.Repeat("t", 60_000)
	long := "/" + strings.Repeat("p", 7000)
	for name, text := range map[string]string{"order.json": "{\n \"a\": 1\n}\n", "bin": "\x00\x01\xff\n", "two.txt": strings.Repeat("x", 2000)} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	const octets, form = "; Content-Type: application/octet-stream", "; Content-Type: application/x-www-form-urlencoded"
	for n, c := range []struct {
		path  string
		flags []string
		want  string
		all   bool // by every client
	}{
		{"/x?q=1&s=%20~(a);b,c@d!'*", nil, "GET /x?q=1&s=%20~(a);b,c@d!'* of SELF", true},
		{"/it's a/%zz?é", nil, "GET /it's%20a/%25zz?%C3%A9 of SELF", false},
		{"/", []string{"-H", "Accept: text/html", "-H", "X-Key: 1", "-H", "X-Key: 2", "-H", "X-Empty;", "-H", "Host: shop.example", "-A", "me/1"},
			"GET / of shop.example; Accept: text/html; User-Agent: me/1; X-Empty: ; X-Key: 1,2", true},
		{"/" + long + "//?=", []string{"-H", "Authorization: Bearer " + token}, "GET /" + long + "//?= of SELF; Authorization: Bearer " + token, true},
		{"/", []string{"--body-file", "order.json"}, "POST / of SELF" + octets + `; "{\n \"a\": 1\n}\n"`, false},
		{"/", []string{"--data-binary", "@bin", "-X", "PUT", "-H", "Content-Type: a/b"}, `PUT / of SELF; Content-Type: a/b; "\x00\x01\xff\n"`, true},
		{"/", []string{"-d", "a=1", "--data", "@order.json"}, "POST / of SELF" + form + `; "a=1&{ \"a\": 1}"`, false},
		{"/", []string{"--json", "@two.txt"}, `POST / of SELF; Accept: application/json; Content-Type: application/json; "` + strings.Repeat("x", 2000) + `"`, false},
		{"/?a", []string{"-G", "-d", "b=1", "-e", "http://r/", "-b", "c=d", "--compressed"}, "GET /?a&b=1 of SELF; Accept-Encoding: gzip, deflate, br; Cookie: c=d; Referer: http://r/", false},
		{"/", []string{"-u", "ann:p:w", "-H", "Connection: close"}, "GET / of SELF; Authorization: Basic YW5uOnA6dw==", false},
		{"/x/?q", []string{"-T", "bin", "-H", "Content-Type: a/b"}, `PUT /x/bin?q of SELF; Content-Type: a/b; "\x00\x01\xff\n"`, true},
		{"/x", []string{"-T", "order.json"}, "PUT /x of SELF" + octets + `; "{\n \"a\": 1\n}\n"`, false},
		{"/", []string{"-I"}, "HEAD / of SELF", true},
	} {
		with := clients[:1]
		if c.all {
			with = clients
		}
		for _, client := range with {
			argv := append([]string{server.URL + c.path, "client=" + client, "-c", "1", "amount=5", "blocks=1", "--out", fmt.Sprintf("out-%d-%s", n, client)}, c.flags...)
			if client == "go-http2" || strings.HasPrefix(client, "h2-") {
				argv = append(argv, "--http2")
			}
			run := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), argv...)
			run.Dir, run.Env = work, append(os.Environ(), "PATH="+path)
			out, err := run.CombinedOutput()
			want := c.want
			if slices.Contains(c.flags, "Connection: close") {
				want = strings.Replace(want, "; Authorization: Basic YW5uOnA6dw==", "; Authorization: Basic YW5uOnA6dw==; Connection: close", 1)
			}
			const asked, verified, measured = 3, 1, 5
			if got, times := server.took(); len(got) != 1 || got[0] != want || times < asked+verified+measured {
				t.Errorf("%s with %.200q: the server got %d times %.300q\nwant %.300q; %v, %s", client, argv[1:], times, got, want, err, out)
			}
		}
	}
}

// A secret is nowhere but in the requests: not in the run's directory, in what is
// printed, in the arguments of a worker, or in the cache afterwards.
func TestSecretsAreNotKept(t *testing.T) {
	t.Parallel()
	server := newRecorder(t, nil)
	work, cache := t.TempDir(), t.TempDir()
	header, password, cookie := "hdr-"+filepath.Base(work), "pw-"+filepath.Base(cache), "ck-"+strconv.Itoa(os.Getpid())
	run := exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"), strings.Replace(server.URL, "://", "://ann:"+password+"@", 1)+"/x",
		"-H", "X-Api-Key: "+header, "-b", "id="+cookie, "client=go-http1", "-c", "1", "window=300ms", "blocks=2", "--out", "out")
	run.Dir, run.Env = work, append(os.Environ(), "XDG_CACHE_HOME="+cache)
	var said bytes.Buffer
	run.Stdout, run.Stderr = &said, &said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	workers := 0
	var told []string
	go func() {
		defer close(ended)
		_ = run.Wait() // what it printed tells
	}()
	for going := true; going; {
		select {
		case <-ended:
			going = false
		default:
		}
		lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
		for _, name := range lines {
			line, err := os.ReadFile(name)
			if err != nil || string(line) == strings.Join(run.Args, "\x00")+"\x00" {
				continue // it has ended, or is what was typed, also in a child that is about to become a worker
			}
			if bytes.Contains(line, []byte("netdyno-worker-http")) {
				workers++
			}
			for _, secret := range []string{header, password, cookie} {
				if bytes.Contains(line, []byte(secret)) {
					told = append(told, string(line))
				}
			}
		}
	}
	if workers == 0 || told != nil {
		t.Errorf("%d arguments of workers seen; secrets in %q", workers, told)
	}
	if got, _ := server.took(); len(got) != 1 || !strings.Contains(got[0], header) || !strings.Contains(got[0], cookie) || !strings.Contains(got[0], "Authorization: Basic") {
		t.Errorf("the server got %q; %s", got, &said)
	}
	encoded := strings.TrimPrefix(target.Basic("ann", password), "Authorization: Basic ")
	for _, secret := range []string{header, password, cookie, encoded} {
		if strings.Contains(said.String(), secret) {
			t.Errorf("%s is printed: %s", secret, &said)
		}
		for _, place := range []string{work, cache} {
			if files := filesWith(t, place, secret); files != nil {
				t.Errorf("%s is in %q after the run", secret, files)
			}
		}
	}
	if records, err := os.ReadFile(filepath.Join(work, "out", "records.jsonl")); err != nil || !strings.Contains(string(records), "X-Api-Key: ***") || !strings.Contains(string(records), "ann:***@") {
		t.Errorf("the typed command in the records: %v", err)
	}
	again := exec.CommandContext(t.Context(), filepath.Join(installed(t), "netdyno"), "run", "out", "--continue")
	again.Dir = work
	if out, err := again.CombinedOutput(); err == nil || !strings.Contains(string(out), "X-Api-Key: ***") {
		t.Errorf("to go on without the secret: %v, %s", err, out)
	}
}

func filesWith(t *testing.T, directory, text string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(directory, func(name string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if bytes.Contains(content, []byte(text)) {
			files = append(files, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
