package target_test

import (
	"bufio"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdyno/internal/run/target"

	"netdyno/test/loopback"
)

// site answers as its paths say.
func site() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Server", "test/1")
		_, _ = io.WriteString(w, strings.Repeat("x", 615))
	})
	mux.Handle("/moved", http.RedirectHandler("/elsewhere", http.StatusMovedPermanently))
	mux.HandleFunc("/broken", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "the database is away\nstack", http.StatusInternalServerError)
	})
	mux.HandleFunc("/made", func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.Method != http.MethodPut || string(body) != "hello" || r.Header.Get("X-Key") != "1" || r.Host != "shop.example" {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		w.WriteHeader(http.StatusCreated)
	})
	grows := 0
	mux.HandleFunc("/varying", func(w http.ResponseWriter, _ *http.Request) {
		grows++
		_, _ = io.WriteString(w, strings.Repeat("x", grows))
	})
	mux.HandleFunc("/closing", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Connection", "close") })
	return mux
}

func levels(t *testing.T, asked target.Target, want map[string]string) target.Found {
	t.Helper()
	f, err := target.Ask(t.Context(), asked)
	if err != nil {
		t.Fatal(err)
	}
	for factor, level := range want {
		if f.Levels[factor] != level {
			t.Errorf("%s: %s is %q, want %q", asked.URL, factor, f.Levels[factor], level)
		}
	}
	return f
}

// cheap has a client for every wire of HTTP, that of HTTP/2 only without encryption.
func cheap(wire string, encrypted bool, own string) string {
	switch {
	case own != "":
		return ""
	case wire == "http/1.1":
		return "http1-uring"
	case wire == "h2c" && !encrypted:
		return "h2-uring"
	}
	return ""
}

func TestHTTP(t *testing.T) {
	s := httptest.NewServer(site())
	defer s.Close()
	at := strings.TrimPrefix(s.URL, "http://")
	f := levels(t, target.Target{URL: s.URL}, map[string]string{
		"server": "address", "client": "fasthttp", "opt.server.address": at, "opt.server.wire": "http/1.1", "request": "0B", "response": "615B",
		"opt.client.path": "/", "opt.client.verify": "status", "fresh": "", "opt.client.host": "",
	})
	if f.Name != at || !f.Local || !strings.HasPrefix(f.Words, "HTTP/1.1 200 OK, 615 bytes, keep-alive, test/1") {
		t.Errorf("found %+v", f)
	}
	f = levels(t, target.Target{URL: s.URL, Client: cheap}, map[string]string{"client": "http1-uring"})
	if !strings.Contains(f.Words, "asked by http1-uring") {
		t.Errorf("it says %q and not who asks", f.Words)
	}
	if f = levels(t, target.Target{URL: s.URL + "/varying"}, map[string]string{"opt.client.verify": "status"}); f.Name != at+"/varying" {
		t.Errorf("the arm is called %s", f.Name)
	}
	levels(t, target.Target{URL: s.URL, Expect: "length"}, map[string]string{"opt.client.verify": "length"})
	refused(t, target.Target{URL: s.URL + "/varying", Expect: "length"}, "--expect length needs the same length each time")
	levels(t, target.Target{URL: s.URL + "/broken", Status: 500}, map[string]string{"opt.client.status": "500"})
	levels(t, target.Target{URL: s.URL + "/moved", Status: 301}, map[string]string{"opt.client.status": "301"})
	refused(t, target.Target{URL: s.URL, Status: 404}, "answers 200 OK; --expect-status says 404")
	levels(t, target.Target{URL: s.URL + "/closing"}, map[string]string{"fresh": "yes"})
	levels(t, target.Target{URL: s.URL + "/made", Method: "PUT", Headers: []string{"X-Key: 1"}, Body: "hello", Host: "shop.example"}, map[string]string{
		"opt.client.method": "PUT", "opt.client.headers": "X-Key: 1", "opt.client.body": "hello", "opt.client.host": "shop.example",
		"opt.client.status": "201", "request": "5B", "response": "0B",
	})
}

// answer answers every request of a connection in the same words.
func answer(conn net.Conn, reply string) {
	for r := bufio.NewReader(conn); ; {
		if _, err := http.ReadRequest(r); err != nil {
			return
		}
		_, _ = io.WriteString(conn, reply) // an end shows in the next request
	}
}

// What the library that asks forgives and a client's may not.
func TestUnusualReplies(t *testing.T) {
	for name, c := range map[string]struct{ reply, words, client string }{
		"bare line ends":        {"HTTP/1.1 200 OK\nContent-Length: 5\n\nhello", "keep-alive, asked by go-http1, as lines end without a carriage return", "go-http1"},
		"the length twice":      {"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 5\r\n\r\nhello", "keep-alive, asked by go-http1, as the length is given twice", "go-http1"},
		"stray bytes after 204": {"HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "HTTP/1.1 204 No Content, 0 bytes, then bytes of no reply, keep-alive, asked by http1-uring", "http1-uring"},
	} {
		t.Run(name, func(t *testing.T) {
			at := loopback.Serve(t, func(conn net.Conn) { answer(conn, c.reply) })
			f := levels(t, target.Target{URL: "http://" + at + "/", Client: cheap}, map[string]string{"client": c.client, "fresh": ""})
			for _, part := range strings.Split(c.words, ", ") {
				if !strings.Contains(f.Words, part) {
					t.Errorf("it says %q, want %q", f.Words, part)
				}
			}
		})
	}
	s := httptest.NewServer(site())
	defer s.Close()
	levels(t, target.Target{URL: s.URL, Headers: []string{"connection: Close"}}, map[string]string{"fresh": "yes"})
}

func TestHTTPS(t *testing.T) {
	s := httptest.NewUnstartedServer(site())
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	levels(t, target.Target{URL: s.URL, CA: ca}, map[string]string{"tls": "yes", "client": "go-http2", "opt.server.wire": "h2c", "opt.client.ca": ca})
	levels(t, target.Target{URL: s.URL, Insecure: true}, map[string]string{"opt.client.insecure": "true", "opt.client.ca": "system"})
	levels(t, target.Target{URL: s.URL, Insecure: true, Client: cheap}, map[string]string{"client": "go-http2"})
	refused(t, target.Target{URL: s.URL}, "signed by itself, not by a known authority; name that with --ca FILE, or accept any with -k")
	refused(t, target.Target{URL: strings.Replace(s.URL, "https", "http", 1)}, "400 Bad Request")
	plain := httptest.NewServer(site())
	defer plain.Close()
	refused(t, target.Target{URL: strings.Replace(plain.URL, "http", "https", 1)}, "speaks no TLS; measure http://")
}

func TestPaths(t *testing.T) {
	s := httptest.NewServer(site())
	defer s.Close()
	read := func(text string) ([]string, error) {
		name := filepath.Join(t.TempDir(), "list")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return target.ReadPaths(t.Context(), name)
	}
	p, err := read("# mine\n/\n\n/varying\n")
	if err != nil {
		t.Fatal(err)
	}
	f := levels(t, target.Target{URL: s.URL, Paths: p}, map[string]string{"opt.client.path": "", "opt.client.verify": "status", "opt.client.status": ""})
	if !strings.Contains(f.Words, "HTTP/1.1, 2 paths in turn, keep-alive") {
		t.Errorf("found %q", f.Words)
	}
	if kept := f.Texts["opt.client.paths"]; string(kept.Bytes) != "/\n/varying\n" || kept.Secret {
		t.Errorf("kept %+v", kept)
	}
	refused(t, target.Target{URL: s.URL + "/x", Paths: p}, "the URL names the path /x, and --paths names others; expected http://")
	for text, want := range map[string]string{"/broken": "/broken answers 500", "/moved": "/moved redirects to"} {
		if p, err = read(text); err != nil {
			t.Fatal(err)
		}
		refused(t, target.Target{URL: s.URL, Paths: p}, want)
	}
	if _, err = read("/a\nb"); err == nil || !strings.Contains(err.Error(), "list:2: ") {
		t.Errorf("a bad line: %v", err)
	}
}

func refused(t *testing.T, asked target.Target, want string) {
	t.Helper()
	_, err := target.Ask(t.Context(), asked)
	if err == nil || !strings.Contains(err.Error(), want) || strings.ContainsAny(err.Error(), "\n\x1b") {
		t.Errorf("%s: %q, want one line that says %q", asked.URL, err, want)
	}
}

func TestWhatCannotBeMeasuredIsOneSentence(t *testing.T) {
	s := httptest.NewServer(site())
	defer s.Close()
	refused(t, target.Target{URL: s.URL + "/moved"}, "redirects to /elsewhere: measure that URL")
	refused(t, target.Target{URL: s.URL + "/broken"}, "answers 500 Internal Server Error: \"the database is away stack\"; the server failed at it: its log says why; or, as all 3 replies are so, --expect-status 500 measures them")
	refused(t, target.Target{URL: "http://127.0.0.1:1/"}, "nothing listens on 127.0.0.1:1; start the server first")
	refused(t, target.Target{URL: "http:///x"}, "is not a URL; expected one such as")
	refused(t, target.Target{URL: "tcp://127.0.0.1"}, "names no port")
	refused(t, target.Target{URL: "ftp://127.0.0.1/"}, `scheme "ftp" cannot be measured`)
	refused(t, target.Target{URL: s.URL, Headers: []string{"none"}}, "expected Name: value")
	refused(t, target.Target{URL: s.URL, BodyFile: filepath.Join(t.TempDir(), "none")}, "body file: open")
	refused(t, target.Target{URL: speaking(t, "nonsense\r\n\r\n")}, "speaks no HTTP")
	first := loopback.Serve(t, func(c net.Conn) { _, _ = io.WriteString(c, "220 mail.example ESMTP\r\n"); echo(c) }) // it speaks before it is asked
	for range 20 {
		refused(t, target.Target{URL: "http://" + first}, "speaks no HTTP")
	}
	refused(t, target.Target{URL: speaking(t, "")}, "after the request); does it speak HTTP?")
}

// speaking is the URL of a server that says the same to everybody and hangs up.
func speaking(t *testing.T, text string) string {
	t.Helper()
	return "http://" + loopback.Serve(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 4096)) // whatever is asked
		_, _ = io.WriteString(c, text)    // the other end judges it
	})
}

// echo sends back what comes until the client goes.
func echo(c net.Conn) { _, _ = io.Copy(c, c) }

func TestEcho(t *testing.T) {
	levels(t, target.Target{URL: "tcp://" + loopback.Serve(t, echo)}, map[string]string{"server": "address", "opt.server.wire": "echo", "request": "100B"})
	refused(t, target.Target{URL: strings.Replace(speaking(t, strings.Repeat("?", 100)), "http", "tcp", 1)}, "is no echo server")
}

// What is asked before a run is what the clients will: the user's host and headers.
func TestAskingIsAsTheClientsDo(t *testing.T) {
	var line, host string
	var header http.Header
	var body []byte
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		line, host, header = r.Method+" "+r.RequestURI, r.Host, r.Header
		body, _ = io.ReadAll(r.Body) // what came is compared
	}))
	defer s.Close()
	token := strings.Repeat("t", 60_000)
	f := levels(t, target.Target{URL: s.URL + "/a b?c=é", Method: "PUT", Body: "x\n\x00", Headers: []string{"Host: shop.example", "Authorization: " + token, "X-Empty:", "X-Two: 1", "X-Two: 2"}},
		map[string]string{"opt.client.host": "shop.example", "opt.client.path": "/a%20b?c=%C3%A9", "opt.client.headers": "", "opt.client.body": ""})
	if line != "PUT /a%20b?c=%C3%A9" || host != "shop.example" || string(body) != "x\n\x00" || header.Get("Authorization") != token ||
		len(header["X-Empty"]) != 1 || strings.Join(header["X-Two"], ",") != "1,2" || header.Get("User-Agent") != "netdyno" {
		t.Errorf("asked %s of %s with %q and %q", line, host, body, header)
	}
	if headers := f.Texts["opt.client.headers"]; !headers.Secret || strings.Contains(string(headers.Bytes), "Host") {
		t.Errorf("the clients' headers are %+v", headers)
	}
	if sent := f.Texts["opt.client.body"]; string(sent.Bytes) != "x\n\x00" || sent.Secret {
		t.Errorf("the clients' body is %+v", sent)
	}
	levels(t, target.Target{URL: strings.Replace(s.URL, "://", "://ann:p%40ss@", 1), Close: true}, map[string]string{"fresh": "yes"})
	if header.Get("Authorization") != "Basic YW5uOnBAc3M=" {
		t.Errorf("the URL's user is %q", header.Get("Authorization"))
	}
	levels(t, target.Target{URL: s.URL, Body: "@home"}, map[string]string{"opt.client.body": "@@home"})
	to := strings.TrimPrefix(s.URL, "http://")
	levels(t, target.Target{URL: "http://shop.example:81/", Dial: func(string) []string { return []string{to} }}, map[string]string{"opt.server.address": to, "opt.client.host": "shop.example:81"})
	if host != "shop.example:81" {
		t.Errorf("connected elsewhere the host is %q", host)
	}
}

func TestRedirectionsAreFollowed(t *testing.T) {
	end := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" {
			w.WriteHeader(http.StatusTeapot)
		}
	}))
	defer end.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, map[string]string{"/a": "/b?x=1", "/b": end.URL + "/c", "/round": "/round"}[r.URL.Path], http.StatusFound)
	}))
	defer s.Close()
	f := levels(t, target.Target{URL: s.URL + "/a", Follow: true, Headers: []string{"Authorization: x"}}, map[string]string{"opt.client.path": "/c", "opt.client.headers": ""})
	if f.URL.String() != end.URL+"/c" || len(f.Texts) > 0 || !strings.HasSuffix(f.Words, ", where "+s.URL+"/a leads") {
		t.Errorf("it ends at %s with %v", f.URL, f.Texts)
	}
	refused(t, target.Target{URL: s.URL + "/round", Follow: true}, "redirects in a circle: "+s.URL+"/round to ")
	refused(t, target.Target{URL: s.URL + "/a", Follow: true, Moves: 1}, "redirects more than 1 times, at last to "+end.URL)
	refused(t, target.Target{URL: s.URL + "/a", Follow: true, Trusting: true, Headers: []string{"Authorization: x"}}, "418")
}

// Cookies that redirections set are sent on where they are asked to, as curl's engine does.
func TestCookiesOfRedirections(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch sid, err := r.Cookie("sid"); {
		case r.URL.Path == "/login":
			http.SetCookie(w, &http.Cookie{Name: "sid", Value: "abc", Path: "/"})
			http.Redirect(w, r, "/home", http.StatusFound)
		case err != nil || sid.Value != "abc":
			http.Redirect(w, r, "/login", http.StatusFound)
		}
	}))
	defer s.Close()
	refused(t, target.Target{URL: s.URL + "/login", Follow: true}, "redirects in a circle: "+s.URL+"/login to "+s.URL+"/home to "+s.URL+"/login; the cookies that it sets (sid) are not sent on: add -b ''")
	f := levels(t, target.Target{URL: s.URL + "/login", Follow: true, Jar: true, Headers: []string{"cookie: own=1"}}, map[string]string{"opt.client.path": "/home"})
	if sent := f.Texts["opt.client.headers"]; string(sent.Bytes) != "Cookie: sid=abc; own=1" || !sent.Secret || strings.Contains(f.Words, "abc") {
		t.Errorf("the clients' headers are %+v; it says %q", sent, f.Words)
	}
}

// Events of HTTP/1.1 are followed by a native client, those of HTTP/2 by one on a library of Go's alone.
func TestEventsChooseAClient(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: a\n\ndata: b\n\n")
	}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	asked := target.Target{URL: s.URL, Client: cheap}
	f := levels(t, asked, map[string]string{"client": "http1-uring", "events": "yes", "opt.client.events": "sse"})
	if !strings.Contains(f.Words, "asked by http1-uring") {
		t.Errorf("it says %q", f.Words)
	}
	asked.Client = nil
	levels(t, asked, map[string]string{"client": "go-http1"})
	asked.Client, asked.HTTP2 = cheap, true
	if f = levels(t, asked, map[string]string{"client": "go-http2", "events": "yes"}); !strings.Contains(f.Words, "asked by go-http2, which follows events") {
		t.Errorf("it says %q", f.Words)
	}
}

// A native client keeps time limits; where none does, one on a library of Go's asks.
func TestTimeLimitsChooseAClient(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.Protocols = new(http.Protocols)
	s.Config.Protocols.SetHTTP1(true)
	s.Config.Protocols.SetUnencryptedHTTP2(true)
	s.Start()
	defer s.Close()
	native := func(wire string, _ bool, own string) string {
		if own != "" {
			return ""
		}
		return "native " + wire
	}
	asked := target.Target{URL: s.URL, Limit: time.Second, Client: native}
	levels(t, asked, map[string]string{"client": "native http/1.1"})
	asked.Client = func(string, bool, string) string { return "" }
	levels(t, asked, map[string]string{"client": "go-http1"})
	asked.HTTP2 = true
	levels(t, asked, map[string]string{"client": "go-http2"})
	asked.Client = native
	levels(t, asked, map[string]string{"client": "native h2c"})
}
