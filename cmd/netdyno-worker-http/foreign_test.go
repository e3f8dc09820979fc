package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// A server that is not ours serves a file of the right size: verify=length
// drives it, and the error without it says so.
func TestAFileServerOfAnothers(t *testing.T) {
	const size = 100_000
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "block"), bytes.Repeat([]byte("b"), size), 0o600); err != nil {
		t.Fatal(err)
	}
	files := httptest.NewServer(http.FileServer(http.Dir(root)))
	defer files.Close()
	for _, transport := range []string{"go-http1", "fasthttp"} {
		for _, c := range []struct {
			options map[string]any
			want    string // of the error; empty for none
		}{
			{map[string]any{"path": "/block", "verify": "length"}, ""},
			{map[string]any{"path": "/block"}, "opt.verify=length"},
			{map[string]any{"path": "/absent", "verify": "length"}, "status 404"},
			{map[string]any{"path": "block", "verify": "length"}, "option path"},
		} {
			t.Run(fmt.Sprint(transport, c.options), func(t *testing.T) {
				client := workertest.Start(t, all...)
				client.Send(contract.Message{Setup: &contract.Setup{
					Transport: transport, Role: contract.Client, Peers: []string{files.Listener.Addr().String()},
					Exchange: bytesOf(0, size), Load: contract.Load{Connections: 2, Amount: 20}, Options: c.options,
				}})
				if c.want != "" {
					if e := client.Expect("error").Error; !strings.Contains(e.Text, c.want) {
						t.Errorf("%+v, want %q", e, c.want)
					}
					return
				}
				client.Expect("ready")
				client.Start()
				if r := client.Expect("result").Result; r.Counts.Exchanges != 40 || len(r.Counts.Errors) > 0 {
					t.Errorf("counts %+v, want 40 exchanges", r.Counts)
				}
			})
		}
	}
}

func TestMisbehavingServersAreCountedByKind(t *testing.T) {
	reply := workertest.HTTPReply

	for name, c := range map[string]struct {
		wrong func(net.Conn)
		kind  contract.ErrorKind
	}{
		"shorter":   {reply(99, 99), contract.Invalid},
		"longer":    {reply(101, 101), contract.Invalid},
		"endless":   {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("x", 1<<20)) }, contract.Invalid},
		"status":    {func(c net.Conn) { io.WriteString(c, "HTTP/1.1 500 Broken\r\nContent-Length: 0\r\n\r\n") }, contract.Invalid},
		"truncated": {reply(100, 50), contract.Peer},
		// The connection was idle, and the request did not come to be read.
		"reset":   {func(c net.Conn) { c.(*net.TCPConn).SetLinger(0) }, ""},
		"silence": {func(net.Conn) {}, ""},
	} {
		for _, transport := range []string{"go-http1", "fasthttp"} {
			for _, read := range []string{"all", "pooled"} {
				options := map[string]any{"verify": "length", "read": read}
				if transport == "fasthttp" {
					delete(options, "read")
				}
				t.Run(fmt.Sprint(transport, "/", name, "/", read), func(t *testing.T) {
					client := workertest.Start(t, all...)
					// Two connections, of which one keeps working: it is to an upright server.
					upright := workertest.MisbehavingHTTP(t, reply(100, 100))
					client.Setup(contract.Setup{
						Transport: transport, Role: contract.Client, Peers: []string{workertest.MisbehavingHTTP(t, c.wrong), upright},
						Exchange: bytesOf(0, 100), Load: contract.Load{Connections: 2, Amount: 3}, Options: options,
					})
					client.Start()
					r := client.Expect("result").Result
					want := contract.Counts{Exchanges: 6, ReceivedBytes: 600, Redialled: 1}
					if c.kind != "" {
						want = contract.Counts{Exchanges: 5, ReceivedBytes: 500, Redialled: r.Counts.Redialled, Errors: map[contract.ErrorKind]int64{c.kind: 1}}
					}
					if !reflect.DeepEqual(r.Counts, want) {
						t.Errorf("counts %+v, want %+v", r.Counts, want)
					}
				})
			}
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
		_, address := trial{Of: c.of, Exchange: bytesOf(int64(len("one")), 9)}.Listen(t, all)
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

// A server may close after a reply. The client goes on, and says how often.
func TestAPoliteEndIsFollowedByANewConnection(t *testing.T) {
	farewell := func(c net.Conn) {
		fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\n%s", strings.Repeat("x", 100))
	}
	for _, transport := range []string{"go-http1", "fasthttp"} {
		t.Run(transport, func(t *testing.T) {
			client := workertest.Start(t, all...)
			client.Setup(contract.Setup{
				Transport: transport, Role: contract.Client, Peers: []string{workertest.MisbehavingHTTP(t, farewell)},
				Exchange: bytesOf(0, 100), Load: contract.Load{Connections: 2, Amount: 11}, Options: map[string]any{"verify": "length"},
			})
			client.Start()
			r := client.Expect("result").Result
			// Four exchanges a connection, the verified one among them.
			if r.Counts.Exchanges != 22 || len(r.Counts.Errors) > 0 || r.Counts.Redialled != 2*2 {
				t.Errorf("counts %+v, want 22 exchanges, no error, and 4 connections made anew", r.Counts)
			}
		})
	}
}
