package workers_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/loopback"
	"netdyno/test/wrong"
)

var (
	http1 = []string{"go-http1", "fasthttp"}
	https = append(slices.Clone(http1), "go-http2")
)

// driven has a client make its amount of exchanges with a server that is not ours.
func driven(t *testing.T, setup contract.Setup) contract.Result {
	t.Helper()
	b := workertest.Start(t, all...)
	setup.Role = contract.Client
	b.Setup(setup)
	b.Start()
	return *b.Expect("result").Result
}

func TestRequestsAreAsTheUserSays(t *testing.T) {
	drive := func(t *testing.T, setup contract.Setup) contract.Counts { return driven(t, setup).Counts }
	for _, client := range https {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", client, encrypted), func(t *testing.T) {
				t.Parallel()
				workertest.RequestsAreAsTheUserSays(t, client, client == "go-http2", encrypted, drive)
				workertest.RequestsDiffer(t, client, client == "go-http2", encrypted, drive)
			})
		}
		t.Run(client+"/paths", func(t *testing.T) {
			t.Parallel()
			workertest.PathsTakeTurns(t, client, client == "go-http2", drive)
		})
		for _, path := range []string{"/x?", "/a/../b?", "/x??", "/x?a=?"} { // as it was written
			t.Run(client+" "+path, func(t *testing.T) {
				t.Parallel()
				seen := make(chan string, 1)
				server := loopback.HTTP(t, func(_ http.ResponseWriter, r *http.Request) {
					select {
					case seen <- r.RequestURI:
					default:
					}
				})
				trial{By: client, Load: contract.Load{Connections: 1}, Client: option("path", path, "verify", "status")}.Dial(t, all, server.Addr)
				if got := <-seen; got != path {
					t.Errorf("it asks for %q, want %q", got, path)
				}
			})
		}
	}
}

func TestEventsAreThoseWritten(t *testing.T) {
	workertest.EventsAreThoseWritten(t, "go-http1", driven)
}

func TestStagesAreTold(t *testing.T) {
	for _, client := range https {
		for _, encrypted := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/%t", client, encrypted), func(t *testing.T) {
				t.Parallel()
				var secret *contract.TLS
				if encrypted {
					secret = workertest.Certificate(t)
				}
				address, trust := workertest.ServeRequests(t, http.HandlerFunc(workertest.HoldReplies), client == "go-http2", encrypted)
				workertest.StagesOf(t, contract.Setup{Transport: client, Peers: []string{address}, TLS: secret, Options: trust}, true, driven)
			})
		}
	}
}

// Every server in Go gives tickets, and every client that resumes sessions uses them.
func TestSessionsAreResumed(t *testing.T) {
	for _, of := range all {
		d := of.Describe()
		if !slices.Contains(d.Features, contract.FeatureResume) {
			continue
		}
		t.Run(d.Name, func(t *testing.T) {
			t.Parallel()
			const amount = 4
			p := trial{Of: d.Name, By: d.Name, Exchange: blocks(10, 10), TLS: workertest.Certificate(t), Load: contract.Load{Connections: 1, Fresh: true, Amount: amount}}
			for _, resume := range []bool{false, true} {
				s, c := p.Setups(all)
				c.Stages, c.TLS.Resume = true, resume
				server, client, _ := workertest.Pair(t, all, s, c)
				r := workertest.Amount(t, server, client, c).Stages
				if (r.Resumed == amount) != resume || r.Resumed > 0 && !resume || r.Handshake == "" || (r.Connect == "") != d.UDP || r.FirstByte == "" {
					t.Errorf("resume %t: stages %+v of %d exchanges", resume, r, amount)
				}
			}
		})
	}
}

func TestPathsAreChecked(t *testing.T) {
	server := loopback.HTTP(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/gone" {
			http.NotFound(w, r)
		}
	})
	for _, c := range []struct{ lines, verify, path, want string }{
		{"/a\nb\n", "status", "/exchange", `paths.txt:2: "b" is not a path`},
		{"/a\n", "length", "/exchange", "expected verify=status"},
		{"/a\n", "status", "/x", "expected one of them"},
		{"# none\n", "status", "/exchange", "holds no path"},
		{"/gone\n/here\n", "status", "/exchange", "/gone: the reply has status 404"},
		{"", "status", "/exchange", "no such file"},
	} {
		file := filepath.Join(t.TempDir(), "paths.txt")
		if err := os.WriteFile(file, []byte(c.lines), 0o600); err != nil {
			t.Fatal(err)
		}
		if c.lines == "" {
			file = "/nowhere.txt"
		}
		for _, client := range http1 {
			err := trial{By: client, Client: option("paths", file, "verify", c.verify, "path", c.path)}.Refused(t, all, server.Addr)
			workertest.Says(t, fmt.Sprintf("%s of %q", client, c.lines), err, c.want)
		}
	}
}

// What servers do wrong counts by its kind, and the other connection, to an upright server,
// goes on.
func TestMisbehavingServersOfHTTPAreCountedByKind(t *testing.T) {
	for name, c := range wrong.HTTP1 {
		for _, client := range []string{"go-http1", "go-http1 pooled", "fasthttp"} {
			t.Run(client+"/"+name, func(t *testing.T) {
				t.Parallel()
				options := option("verify", "length")
				of, read, reads := strings.Cut(client, " ")
				if reads {
					options["read"] = read
				}
				r := driven(t, contract.Setup{
					Transport: of, Peers: []string{workertest.MisbehavingHTTP(t, c.Does), workertest.MisbehavingHTTP(t, workertest.HTTPReply(100, 100))},
					Exchange: blocks(0, 100), Load: contract.Load{Connections: 2, Amount: 3}, Options: options,
				}).Counts
				if failed := r.Errors[c.Kind]; c.Kind == "" && (r.Exchanges != 6 || len(r.Errors) > 0 || r.Redialled != 1) ||
					c.Kind != "" && (r.Exchanges != 5 || failed != 1 || len(r.Errors) != 1) || r.ReceivedBytes != 100*r.Exchanges {
					t.Errorf("counts %+v, want 6 exchanges, or 5 and one error of kind %q", r, c.Kind)
				}
			})
		}
	}
}

// A server says what it does not serve.
func TestWhatIsNotServed(t *testing.T) {
	for _, c := range []struct {
		of, method, body string
		says             []string
	}{
		{"go-http1", "PUT", "", []string{"405", "method PUT is not served, expected GET or POST"}},
		{"fasthttp", "PUT", "", []string{"405", "method PUT is not served, expected GET or POST"}},
		{"go-http1", "POST", "four", []string{"the request has 4 bytes, expected 3"}},
		{"fasthttp", "POST", "four", []string{"the request has more than the expected 3 bytes"}},
		{"fasthttp", "POST", "tw", []string{"the request has 2 bytes, expected 3"}},
	} {
		_, address := trial{Of: c.of, Exchange: blocks(int64(len("one")), 9)}.Listen(t, all)
		request, err := http.NewRequestWithContext(t.Context(), c.method, "http://"+address+"/any", strings.NewReader(c.body))
		if err != nil {
			t.Fatal(err)
		}
		reply, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(reply.Body)
		_ = reply.Body.Close()
		workertest.Says(t, c.of+" "+c.method, errors.New(reply.Status+" "+string(text)), c.says...)
	}
}

// answering starts a server that reads a request at a time, counts it and hands the connection
// to answer, until that returns false.
func answering(t *testing.T, answer func(c net.Conn, n int) (more bool)) (address string, read *atomic.Int64) {
	t.Helper()
	read = &atomic.Int64{}
	return workertest.Serve(t, func(c net.Conn) {
		from := bufio.NewReader(c)
		for n := 1; ; n++ {
			request, err := http.ReadRequest(from)
			if err != nil {
				return
			}
			_, _ = io.Copy(io.Discard, request.Body) // a client that is gone shows at the client
			read.Add(1)
			if !answer(c, n) {
				return
			}
		}
	}), read
}

// An idle connection that the server closes as we write is no error: the request goes out once
// more (RFC 9112, section 9.3.1), but not one that must not be sent twice.
func TestAServerThatClosesAnIdleConnection(t *testing.T) {
	for _, client := range http1 {
		for method, up := range map[string]int64{"GET": 0, "POST": 3} {
			t.Run(client+" "+method, func(t *testing.T) {
				t.Parallel()
				address, read := answering(t, func(c net.Conn, n int) bool {
					if n < 4 {
						_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
					}
					return n < 4
				})
				r := driven(t, contract.Setup{
					Transport: client, Peers: []string{address}, Options: option("verify", "status"), Exchange: blocks(up, 5), Load: contract.Load{Connections: 2, Amount: 20},
				})
				failed := r.Counts.Errors[contract.Peer]
				if method == "GET" && (r.Counts.Exchanges != 40 || failed > 0 || r.Counts.Redialled < 12 || read.Load() != 40+2+r.Counts.Redialled) {
					t.Errorf("counts %+v, reasons %+v, %d requests read; want 40 exchanges, and a request more for each connection", r.Counts, r.Reasons, read.Load())
				}
				want := []contract.Reason{{Kind: contract.Peer, Text: "the server closed an idle connection", Count: failed}}
				if method == "POST" && (failed < 8 || r.Counts.Exchanges+failed != 40 || !slices.Equal(r.Reasons, want) || read.Load() != 42) {
					t.Errorf("counts %+v, reasons %+v, %d requests read; want 40 in all, each read once", r.Counts, r.Reasons, read.Load())
				}
			})
		}
	}
}

// With a connection for every exchange all succeed, however the end of a reply is told.
func TestAServerThatClosesEachConnection(t *testing.T) {
	body := strings.Repeat("y", 300)
	for name, c := range map[string]struct {
		replies []string
		bytes   int64
		options map[string]any
	}{
		"HTTP/1.0":              {[]string{"HTTP/1.0 200 OK\r\n\r\n" + body}, 300, option("verify", "length")},
		"HTTP/1.1 without one":  {[]string{"HTTP/1.1 200 OK\r\n\r\n" + body}, 300, option("verify", "length")},
		"chunks":                {[]string{"HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n12c\r\n" + body + "\r\n0\r\n\r\n"}, 300, option("verify", "length")},
		"no content":            {[]string{"HTTP/1.0 204 No Content\r\n\r\n"}, 0, option("verify", "length", "status", 204.0)},
		"nothing":               {[]string{"HTTP/1.0 200 OK\r\n\r\n"}, 0, option("verify", "length")},
		"compressed":            {[]string{"HTTP/1.0 200 OK\r\nContent-Encoding: gzip\r\n\r\n" + body}, 300, option("verify", "length")},
		"changing":              {[]string{"HTTP/1.0 200 OK\r\n\r\n" + body, "HTTP/1.0 200 OK\r\n\r\n"}, 300, option("verify", "status")},
		"changing, with length": {[]string{"HTTP/1.0 200 OK\r\nContent-Length: 3\r\n\r\nabc", "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n"}, 3, option("verify", "status")},
	} {
		for _, client := range http1 {
			t.Run(client+"/"+name, func(t *testing.T) {
				t.Parallel()
				var n atomic.Int64
				address, _ := answering(t, func(conn net.Conn, _ int) bool {
					_, _ = io.WriteString(conn, c.replies[int(n.Add(1))%len(c.replies)]) // a client that is gone shows at the client
					return false
				})
				r := driven(t, contract.Setup{
					Transport: client, Peers: []string{address}, Options: c.options, Exchange: blocks(0, c.bytes), Load: contract.Load{Connections: 2, Amount: 20, Fresh: true},
				}).Counts
				if want := 40 * c.bytes / int64(len(c.replies)); r.Exchanges != 40 || len(r.Errors) > 0 || r.ReceivedBytes != want {
					t.Errorf("counts %+v, want 40 exchanges and %d bytes", r, want)
				}
			})
		}
	}
}

// Bytes after a reply that has no body are told from the next reply: the connection is given up
// for another, as curl does, and every request that was taken counts. Where they meet a request
// that may not be sent twice they are a failure with its reason.
func TestBytesAfterAReplyWithoutABody(t *testing.T) {
	const noContent, notModified = "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"
	for name, c := range map[string]struct {
		head, stray    string
		later          time.Duration
		status         float64
		method         string
		redialled, met bool
	}{
		"204":                {noContent, "0\r\n\r\n", 0, 204, "GET", true, false},
		"304":                {notModified, "hello", 0, 304, "GET", true, false},
		"POST":               {noContent, "0\r\n\r\n", 0, 204, "POST", true, false},
		"later":              {noContent, "0\r\n\r\n", time.Millisecond, 204, "GET", true, false},
		"none":               {noContent, "", 0, 204, "GET", false, false},
		"another reply late": {"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 0, 204, "GET", true, false},
		"in place of one":    {"HTTP/1.1 204 No Content\r\n\r\n", "stray\r\n", 0, 204, "POST", true, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, taken := answering(t, func(conn net.Conn, n int) bool {
				text := c.head
				if c.later == 0 && !c.met {
					text += c.stray
				} else if c.met && n%2 == 0 {
					text = c.stray
				}
				_, _ = io.WriteString(conn, text) // an end shows in the next request
				if c.later > 0 {
					time.Sleep(c.later)
					_, _ = io.WriteString(conn, c.stray)
				}
				return true
			})
			r := driven(t, contract.Setup{
				Transport: "go-http1", Peers: []string{address}, Options: option("verify", "status", "status", c.status, "method", c.method),
				Load: contract.Load{Connections: 2, Amount: 50, ThinkNs: 10 * int64(c.later)},
			})
			if c.met {
				if len(r.Reasons) != 1 || r.Reasons[0].Kind != contract.Peer || !strings.Contains(r.Reasons[0].Text, "bytes after a reply without a body") || r.Counts.Errors[contract.Peer]+r.Counts.Exchanges != 100 {
					t.Errorf("counts %+v, reasons %v", r.Counts, r.Reasons)
				}
			} else if r.Counts.Exchanges != 100 || len(r.Counts.Errors) > 0 || (r.Counts.Redialled > 0) != c.redialled || c.later == 0 && taken.Load() != 102 {
				t.Errorf("counts %+v, reasons %v, the server took %d; want 100 exchanges and 102 requests, connections made again: %v", r.Counts, r.Reasons, taken.Load(), c.redialled)
			}
		})
	}
}
