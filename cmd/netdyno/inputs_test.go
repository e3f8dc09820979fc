package main

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/quic-go/quic-go/http3"
	"github.com/spf13/pflag"

	"netdyno/internal/run/curl"
)

// witness is a server of somebody else's that keeps all that a client shows of itself; where it
// encrypts by HTTP/3, too.
type witness struct {
	plain, secure *httptest.Server
	mu            sync.Mutex
	seen          []string // each request once
	times         int      // requests
	connections   int
}

func newWitness(t *testing.T) *witness {
	w := &witness{}
	count := func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.connections++
		}
	}
	both := new(http.Protocols)
	both.SetHTTP1(true)
	both.SetUnencryptedHTTP2(true)
	w.plain, w.secure = httptest.NewUnstartedServer(w), httptest.NewUnstartedServer(w)
	w.plain.Config.Protocols, w.plain.Config.ConnState, w.secure.Config.ConnState = both, count, count
	w.secure.EnableHTTP2, w.secure.TLS = true, &tls.Config{ClientAuth: tls.RequestClientCert}
	w.plain.Start()
	w.secure.StartTLS()
	overQUIC(t, w.secure, w)
	t.Cleanup(w.plain.Close)
	t.Cleanup(w.secure.Close)
	return w
}

// overQUIC serves HTTP/3 on the UDP port of a server's number, with its certificate.
func overQUIC(t *testing.T, s *httptest.Server, handler http.Handler) {
	t.Helper()
	socket, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort(s.Listener.Addr().String())))
	if err != nil {
		t.Fatal(err)
	}
	server := &http3.Server{TLSConfig: http3.ConfigureTLSConfig(&tls.Config{Certificates: s.TLS.Certificates}), Handler: handler}
	go func() { _ = server.Serve(socket) }() // until it is closed
	t.Cleanup(func() {
		_ = server.Close()
		_ = socket.Close()
	})
}

// ServeHTTP implements http.Handler.
func (w *witness) ServeHTTP(out http.ResponseWriter, q *http.Request) {
	body, err := io.ReadAll(q.Body)
	if err != nil {
		out.WriteHeader(http.StatusBadRequest)
		return
	}
	from, _, _ := net.SplitHostPort(q.RemoteAddr)
	text := fmt.Sprintf("%s: %s %s %s of %s %q %v", from, q.Proto, q.Method, q.RequestURI, q.Host, body, q.Header)
	if q.TLS != nil {
		text += fmt.Sprintf(" %s %d", q.TLS.ServerName, len(q.TLS.PeerCertificates))
	}
	w.mu.Lock()
	if w.times++; !slices.Contains(w.seen, text) {
		w.seen = append(w.seen, text)
	}
	w.mu.Unlock()
	switch c, err := q.Cookie("sid"); {
	case q.URL.Path == "/moved":
		http.SetCookie(out, &http.Cookie{Name: "sid", Value: "1"})
		http.Redirect(out, q, "/home", http.StatusFound)
	case q.URL.Path == "/away":
		http.Redirect(out, q, strings.Replace(w.plain.URL, "127.0.0.1", "localhost", 1)+"/", http.StatusFound)
	case q.URL.Path == "/two":
		http.Redirect(out, q, "/away", http.StatusFound)
	case q.URL.Path == "/home" && (err != nil || c.Value != "1"):
		http.Redirect(out, q, "/moved", http.StatusFound)
	default:
		_, _ = io.WriteString(out, "ok") // the client judges what comes
	}
}

// took returns what came, each once, and how often and over how many connections anything
// did, and forgets it.
func (w *witness) took() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	slices.Sort(w.seen)
	text := fmt.Sprintf("%q, %d requests, %d connections", w.seen, w.times, w.connections)
	w.seen, w.times, w.connections = nil, 0, 0
	return text
}

// typedInput is a flag of a run by URL, and what comes of it: the server sees something else than
// of against, the run ends with status 2 and says so, or it says so and asks.
type typedInput struct {
	args, against string // PLAIN, SECURE, HOST and SHOP are the server's URLs and addresses
	refused, says string
}

// inputs has a line for each flag that is netdyno's own. Those of ofRun are no part of what is
// asked or of what comes back.
var inputs = map[string][]typedInput{
	"connections":           {{args: "PLAIN -n 20 -c 4", against: "PLAIN -n 20 -c 1", says: "4 connections"}, {args: "PLAIN -c jar", refused: "--cookie-jar"}},
	"number":                {{args: "PLAIN -n 40 -c 1", against: "PLAIN -n 20 -c 1", says: "40 on each"}},
	"rate":                  {{args: "PLAIN -c 1 -q 20 -d 1s blocks=1", refused: "expected one of them"}, {args: "PLAIN -c 1 -q 20 window=500ms blocks=1", against: "PLAIN -c 1 -q 60 window=500ms blocks=1", says: "20 requests/s"}},
	"duration":              {{args: "PLAIN -c 1 -q 20 --duration 1s", against: "PLAIN -c 1 -q 20 --duration 2s"}},
	"z":                     {{args: "PLAIN -c 1 -q 20 -z 1s", against: "PLAIN -c 1 -q 20 -z 2s"}},
	"d":                     {{args: "PLAIN -c 1 -q 20 -d 1s", against: "PLAIN -c 1 -q 20 -d 2s"}, {args: "PLAIN -d a=1 --dry-run"}},
	"max-errors":            {{args: "PLAIN -n 20 -c 1 --max-errors 7%", says: "up to 7 % may fail"}},
	"timeout":               {{args: "PLAIN -n 20 -c 1 -m 1", says: "1s"}},
	"max-time":              {{args: "PLAIN -n 20 -c 1 --max-time 1", says: "1s"}},
	"connect-timeout":       {{args: "PLAIN -n 20 -c 1 --connect-timeout 1s", says: "1s"}},
	"pace":                  {{args: "PLAIN -q 2000 -c 1 --pace cheap client=go-http1 --dry-run", refused: "feature gather"}, {args: "PLAIN -n 20 --pace cheap", refused: "closed loop"}, {args: "PLAIN -q 100 --pace chaep", refused: "cheap"}},
	"data-from":             {{args: "PLAIN/{line} --data-from b.txt --dry-run", against: "PLAIN/{line} --dry-run", says: "b.txt"}, {args: "PLAIN/{none} --data-from b.txt", refused: "none"}},
	"pick":                  {{args: "PLAIN/{line} --data-from paths.txt --pick random --dry-run", says: "random"}, {args: "PLAIN --pick random", refused: "--data-from"}},
	"before":                {{args: "PLAIN --before curl·PLAIN/login --dry-run", says: "before: GET"}, {args: "PLAIN --before curl·--http3·SECURE/login --dry-run", refused: "--http1.1 or --http2"}},
	"take":                  {{args: "PLAIN --take a=json:$.b", refused: "behind the --before"}},
	"before-each":           {{args: "PLAIN --before-each curl", refused: "k6"}},
	"address":               {{args: "http://shop.test:PORT/ --resolve shop.test:PORT:127.0.0.1,[::1] --address first --dry-run", against: "http://shop.test:PORT/ --dry-run"}, {args: "PLAIN --address last", refused: "all"}},
	"ipv4":                  {{args: "http://localhost:PORT/ -4 --dry-run"}, {args: "PLAIN -4 -6", refused: "contradict"}},
	"ipv6":                  {{args: "http://localhost:PORT/ -6", refused: "localhost"}},
	"interface":             {{args: "PLAIN --interface 127.0.0.9 --dry-run"}, {args: "PLAIN --interface none0", refused: "none0"}},
	"method":                {{args: "PLAIN -X DELETE --dry-run", says: "DELETE http://"}, {args: "PLAIN --workload w.yaml -X PUT", refused: "methods of their own"}},
	"request":               {{args: "PLAIN --request DELETE --dry-run", says: "DELETE http://"}},
	"header":                {{args: "PLAIN -H X-A:1 --dry-run", says: "with X-A"}, {args: "PLAIN -H Content-Length:9 --dry-run", says: "without Content-Length, which the client makes", against: "-"}, {args: "PLAIN -H Upgrade:websocket", refused: "ws://"}},
	"body":                  {{args: "PLAIN --body abc --dry-run", says: "POST http://"}},
	"body-file":             {{args: "PLAIN --body-file b.txt --dry-run", says: "from b.txt"}, {args: "PLAIN --body-file b.txt --body a", refused: "expected one of them"}},
	"host":                  {{args: "PLAIN --host shop.test --dry-run"}},
	"sni":                   {{args: "SECURE -k --sni other.test --dry-run", against: "SECURE -k --dry-run"}, {args: "PLAIN --sni other.test --dry-run", says: "ignored: --sni, as no URL is https://", against: "-"}},
	"ca":                    {{args: "SECURE --ca ca.pem --dry-run", against: "SECURE --dry-run"}},
	"cacert":                {{args: "SECURE --cacert ca.pem --dry-run", against: "SECURE --dry-run"}},
	"cert":                  {{args: "SECURE -k --cert own.pem --key own.key --dry-run", against: "SECURE -k --dry-run"}, {args: "SECURE -k -E both.pem --dry-run", against: "SECURE -k --dry-run"}},
	"key":                   {{args: "SECURE -k --key own.key --dry-run", refused: "cert and key"}},
	"insecure":              {{args: "SECURE -k --dry-run", against: "SECURE --dry-run"}},
	"http2":                 {{args: "PLAIN --http2 --dry-run", says: "HTTP/2.0"}},
	"http2-prior-knowledge": {{args: "PLAIN --http2-prior-knowledge --dry-run", says: "HTTP/2.0"}},
	"http1.1":               {{args: "SECURE -k --http1.1 --dry-run", against: "SECURE -k --dry-run", says: "HTTP/1.1"}, {args: "PLAIN --http1.1 --http2 --dry-run", against: "PLAIN --http1.1 --dry-run", says: "HTTP/2.0"}},
	"http3":                 {{args: "SECURE -k --http3 --dry-run", against: "SECURE -k --dry-run", says: "HTTP/3.0"}, {args: "SECURE -k --http2 --http3 --dry-run", against: "SECURE -k --http3 --dry-run", says: "go-http2 and go-http3"}, {args: "PLAIN --http3", refused: "https://"}, {args: "SECURE SECURE -k --http2 --http3", refused: "compared at one URL"}, {args: "SECURE -k --http2 --http3 client=go-http2", refused: "client="}, {args: "SECURE -k --http3 --proxy PLAIN", refused: "by UDP"}},
	"http3-only":            {{args: "SECURE -k --http3-only --dry-run", against: "SECURE -k --dry-run", says: "HTTP/3.0"}},
	"expect":                {{args: "PLAIN --expect length --dry-run", says: "the length of the first"}},
	"expect-status":         {{args: "PLAIN/moved --expect-status 302 --dry-run", says: "must have status 302"}},
	"stream":                {{args: "PLAIN --stream --dry-run", against: "PLAIN --dry-run", says: "1 part in"}},
	"events":                {{args: "PLAIN --events 1 --dry-run", against: "PLAIN --dry-run", says: "a reply is ended after 1"}, {args: "PLAIN --events many", refused: "a number of events"}},
	"as":                    {{args: "PLAIN --as chat", refused: "brings no events"}, {args: "PLAIN --as poem", refused: "expected chat"}},
	"paths":                 {{args: "PLAIN --paths paths.txt --dry-run", says: "2 paths in turn"}},
	"workload":              {{args: "PLAIN --workload w.yaml -n 20 -c 1 client=go-http1", against: "PLAIN -n 20 -c 1 client=go-http1", says: "as w.yaml says"}},
	"speed":                 {{args: "PLAIN --speed 2", refused: "recorded traffic"}},
	"data":                  {{args: "PLAIN --data a=1 --dry-run", says: "body of 3 B"}, {args: "PLAIN --data= --dry-run", says: "POST http://"}},
	"data-ascii":            {{args: "PLAIN --data-ascii a=1 --dry-run", says: "body of 3 B"}},
	"data-raw":              {{args: "PLAIN --data-raw @a --dry-run"}},
	"data-binary":           {{args: "PLAIN --data-binary @b.txt --dry-run", says: "from b.txt"}},
	"data-urlencode":        {{args: "PLAIN --data-urlencode a=ä --dry-run"}},
	"json":                  {{args: "PLAIN --json {} --dry-run"}},
	"form":                  {{args: "PLAIN -F a=@b.txt --dry-run", says: "from b.txt"}},
	"upload-file":           {{args: "PLAIN -T b.txt --dry-run", says: "PUT http://"}},
	"user":                  {{args: "PLAIN -u me:s3cret --dry-run", says: "Authorization ***"}},
	"oauth2-bearer":         {{args: "PLAIN --oauth2-bearer s3cret --dry-run", says: "Authorization ***"}},
	"cookie": {
		{args: "PLAIN -b a=s3cret -b c=2 --dry-run", says: "Cookie ***"}, {args: "PLAIN/moved -L --cookie= --dry-run", against: "PLAIN/moved -L --dry-run", says: "(sid)"},
		{args: "PLAIN --cookie= --dry-run", says: "ignored: --cookie, as", against: "-"}, {args: "PLAIN -b jar", refused: "a file of cookies is not read"},
	},
	"cookie-jar":           {{args: "PLAIN/moved -L --cookie-jar f --dry-run", against: "PLAIN/moved -L --dry-run", says: "(sid)"}, {args: "PLAIN --cookie-jar f --dry-run", says: "ignored: --cookie-jar", against: "-"}, {args: "curl PLAIN/moved -L -c f --dry-run", against: "PLAIN/moved -L --dry-run"}},
	"user-agent":           {{args: "PLAIN -A me --dry-run", says: "User-Agent"}},
	"referer":              {{args: "PLAIN -e me --dry-run", says: "Referer"}},
	"compressed":           {{args: "PLAIN --compressed --dry-run", says: "Accept-Encoding"}},
	"range":                {{args: "PLAIN -r 0-1 --dry-run", says: "Range"}},
	"url-query":            {{args: "PLAIN --url-query a=1 --dry-run", says: "?a=1"}},
	"get":                  {{args: "PLAIN -G --data a=1 --dry-run", says: "?a=1"}, {args: "PLAIN -G --dry-run", says: "ignored: --get", against: "-"}},
	"head":                 {{args: "PLAIN -I --dry-run", says: "HEAD http://"}, {args: "PLAIN -I --data a", refused: "expected one of them"}},
	"location":             {{args: "PLAIN/away -L --dry-run", against: "PLAIN/away --dry-run", says: "leads"}},
	"location-trusted":     {{args: "PLAIN/away -u me:s3cret --location-trusted --dry-run", against: "PLAIN/away -u me:s3cret -L --dry-run"}},
	"max-redirs":           {{args: "PLAIN/two -L --max-redirs 1 --dry-run", against: "PLAIN/two -L --dry-run"}, {args: "PLAIN --max-redirs 1 --dry-run", says: "ignored: --max-redirs", against: "-"}, {args: "PLAIN -L --max-redirs 0", refused: "1 or more"}},
	"resolve":              {{args: "http://shop.test:PORT/ --resolve shop.test:PORT:127.0.0.1 --dry-run", against: "http://shop.test:PORT/ --dry-run"}},
	"connect-to":           {{args: "http://shop.test:1/ --connect-to shop.test:1:127.0.0.1:PORT --dry-run", against: "http://shop.test:1/ --dry-run"}},
	"proxy":                {{args: "http://shop.test:1/ -x PLAIN --dry-run", against: "http://shop.test:1/ --dry-run"}},
	"unix-socket":          {{args: "PLAIN --unix-socket none", refused: "no Unix socket"}},
	"abstract-unix-socket": {{args: "PLAIN --abstract-unix-socket nobody-here", refused: "nothing listens"}},
	"proto":                {{args: "PLAIN --proto =https", refused: "curl's --proto"}},
	"message":              {{args: "PLAIN --message a.B", refused: "does not go with a URL"}},
	"reply":                {{args: "PLAIN --reply a.B", refused: "do not go with a URL"}},
	"reply-data":           {{args: "PLAIN --reply-data f", refused: "do not go with a URL"}},
	"judge":                {{args: "PLAIN --judge exchanges_per_s", refused: "several URLs"}},
	"tell":                 {{args: "PLAIN --tell 5%", refused: "several URLs"}},
	"gate":                 {{args: "PLAIN --gate", refused: "name a second"}},
	"pin-server":           {{args: "PLAIN --pin-server -x 127.0.0.1:1", refused: "pin-server"}},
}

// ofRun are flags that say where a run measures, what is kept and what is printed.
var ofRun = []string{"out", "rig", "resume", "dry-run", "continue", "profile", "name", "as-json", "quiet", "percentiles", "help"}

// Whatever is given changes what a server sees, or is named as ignored with the reason, or is
// refused.
func TestEveryInputIsDoneOrSaid(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	w, work := newWitness(t), t.TempDir()
	certificateFiles(t, work)
	if err := os.WriteFile(filepath.Join(work, "ca.pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: w.secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"b.txt": "hello", "paths.txt": "/a\n/b\n", "w.yaml": "classes:\n  - {name: a, weight: 1, method: POST, path: /a, body: hi, status: 200}\n"} {
		if err := os.WriteFile(filepath.Join(work, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	at := w.plain.Listener.Addr().(*net.TCPAddr)
	places := strings.NewReplacer("PLAIN", w.plain.URL, "SECURE", w.secure.URL, "PORT", fmt.Sprint(at.Port))
	run := func(args string) (output string, status int) {
		argv := strings.Fields(places.Replace(args))
		for i, arg := range argv {
			argv[i] = strings.ReplaceAll(arg, "·", " ")
		}
		if argv[0] != "curl" {
			argv = append([]string{"run"}, argv...)
		}
		c := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), append(argv, "--out", filepath.Join(t.TempDir(), "out"))...)
		c.Dir, c.Env = work, append(os.Environ(), "PATH="+path)
		text, _ := c.CombinedOutput() // its status tells
		return string(text), c.ProcessState.ExitCode()
	}
	for _, command := range []string{"run", "curl"} {
		c, _, err := root().Find([]string{command})
		if err != nil {
			t.Fatal(err)
		}
		c.Flags().VisitAll(func(f *pflag.Flag) {
			if _, is := f.Value.(*ofCurl); !is && inputs[f.Name] == nil && !slices.Contains(ofRun, f.Name) {
				t.Errorf("netdyno %s --%s has no line in this test: what does a server see of it, or who is told that it does nothing?", command, f.Name)
			}
		})
	}
	told := map[string]string{} // what the server saw, by what was typed
	for name, all := range inputs {
		for _, in := range all {
			before := in.against
			if before == "" || before == "-" {
				before = "PLAIN --dry-run"
			}
			if in.refused != "" {
				if said, status := run(in.args); status != 2 || !strings.Contains(said, in.refused) {
					t.Errorf("--%s: %s: status %d, %.300s\nwant 2 and %q", name, in.args, status, said, in.refused)
				}
				continue
			}
			if _, known := told[before]; !known {
				w.took()
				_, _ = run(before)
				told[before] = w.took()
			}
			said, _ := run(in.args)
			seen, now := told[before], w.took()
			same := seen == now
			if !strings.Contains(said, in.says) || strings.Contains(said, "s3cret") {
				t.Errorf("--%s: %s says %.600s\nwant %q, and no secret", name, in.args, said, in.says)
			}
			if onlySaid := in.says != "" && (in.against == "-" || in.against == "" && same); same && !onlySaid {
				t.Errorf("--%s: the server sees the same of %s and of %s: %s", name, in.args, before, seen)
			} else if in.against == "-" && !same {
				t.Errorf("--%s: %s is said to be ignored, and the server sees %s, not %s", name, in.args, now, seen)
			}
		}
	}
}

// Each of curl's other flags is refused with its reason, or ignored by name with it.
func TestCurlsOtherFlags(t *testing.T) {
	t.Parallel()
	directory, path, _ := withClients(t)
	w := newWitness(t)
	ignored := []string{"curl", w.plain.URL, "--dry-run"}
	reasons := map[string]string{}
	for _, f := range curl.Flags() {
		argv := []string{"--" + f.Name}
		if f.Valued {
			argv = append(argv, "1")
		}
		if f.Ignored {
			ignored, reasons[f.Name] = append(ignored, argv...), f.Why
			continue
		}
		c := root()
		c.SetArgs(append([]string{"curl", w.plain.URL}, argv...))
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), "--"+f.Name) || !strings.HasSuffix(err.Error(), f.Why) {
			t.Errorf("--%s: %v, want that it is not offered: %s", f.Name, err, f.Why)
		}
	}
	if seen := w.took(); !strings.Contains(seen, " 0 requests") {
		t.Errorf("of commands that are refused the server saw %s", seen)
	}
	c := exec.CommandContext(t.Context(), filepath.Join(directory, "netdyno"), ignored...)
	c.Env = append(os.Environ(), "PATH="+path)
	said, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%v, %s", err, said)
	}
	for name, why := range reasons {
		found := false
		for line := range strings.Lines(string(said)) {
			found = found || strings.Contains(line, "ignored: ") && strings.Contains(line, "--"+name) && strings.Contains(line, "as "+why)
		}
		if !found {
			t.Errorf("--%s is not said to be ignored as %s: %s", name, why, said)
		}
	}
}

// curlsOwn are the flags of curl 8.11, as curl --help all lists them.
func TestEveryFlagOfCurlIsKnown(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("testdata", "curl-flags"))
	if err != nil {
		t.Fatal(err)
	}
	c, _, err := root().Find([]string{"curl"})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(text)) {
		if c.Flags().Lookup(name) == nil {
			t.Errorf("curl's --%s is unknown", name)
		}
	}
	for _, arg := range []string{"http3://a/", "redis://a/", "gopher://a/"} {
		c := root()
		c.SetArgs(withRun([]string{arg, "-c", "2"}, func(string) bool { return false }))
		if err := c.Execute(); err == nil || !strings.Contains(err.Error(), arg+" is no URL that netdyno asks; ") {
			t.Errorf("%s: %v", arg, err)
		}
	}
}

// certificateFiles writes a certificate of a client's, own.pem and own.key, and both.pem.
func certificateFiles(t *testing.T, work string) {
	t.Helper()
	borrowed := httptest.NewTLSServer(nil)
	defer borrowed.Close()
	own := borrowed.TLS.Certificates[0]
	key, err := x509.MarshalPKCS8PrivateKey(own.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	certificate, secret := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: own.Certificate[0]}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})
	for name, text := range map[string][]byte{"own.pem": certificate, "own.key": secret, "both.pem": slices.Concat(certificate, secret)} {
		if err := os.WriteFile(filepath.Join(work, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}

}
