package nethttp

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire/httpwire"
	"netdyno/internal/work/worker/workertest"
)

// arm is one way to use net/http, ours and as a program without netdyno does.
type arm struct {
	name     string
	http2    bool
	up, down int64
	read     string
}

var arms = []arm{
	{"http1 all 100 B", false, 100, 100, ReadAll},
	{"http1 all 64 KiB", false, 0, 64 << 10, ReadAll},
	{"http1 pooled 64 KiB", false, 0, 64 << 10, ReadPooled},
	{"http2 all 100 B", true, 100, 100, ReadAll},
	{"http2 pooled 64 KiB", true, 0, 64 << 10, ReadPooled},
}

func (a arm) protocols() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(!a.http2)
	p.SetUnencryptedHTTP2(a.http2)
	return p
}

func (a arm) setup() contract.Setup {
	return contract.Setup{
		Listen: "127.0.0.1:0", Exchange: contract.Exchange{UpBytes: a.up, DownBytes: a.down}, Load: contract.Load{Connections: 1},
		Options: workertest.WithDefaults(httpwire.Options(), map[string]any{"read": a.read}),
	}
}

// server starts ours.
func (a arm) server(t testing.TB) string {
	t.Helper()
	s, err := NewServer(a.setup(), nil, &http.Server{Protocols: a.protocols()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s.Ready().Addresses[0]
}

// client returns an exchange of our client.
func (a arm) client(t testing.TB) load.Call {
	t.Helper()
	setup := a.setup()
	setup.Peers = []string{a.server(t)}
	c, err := newClient(setup, Plan{OneAtATime: !a.http2, Pool: PoolOwn, Transport: func() *http.Transport { return &http.Transport{Protocols: a.protocols()} }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c.Call(0)
}

// bare returns the same exchange by net/http alone.
func (a arm) bare(t testing.TB) load.Call {
	t.Helper()
	transport := &http.Transport{Protocols: a.protocols(), DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	client := &http.Client{Transport: transport}
	url := "http://" + a.server(t) + "/exchange"
	content := make([]byte, a.up)
	pool := sync.Pool{New: func() any { b := make([]byte, a.down); return &b }}
	return func() (int64, error) {
		method, body := http.MethodGet, io.Reader(nil)
		if a.up > 0 {
			method, body = http.MethodPost, bytes.NewReader(content)
		}
		request, err := http.NewRequest(method, url, body)
		if err != nil {
			return 0, err
		}
		if a.up > 0 {
			request.Header.Set("Content-Type", "application/octet-stream")
		}
		response, err := client.Do(request)
		if err != nil {
			return 0, err
		}
		defer response.Body.Close()
		if a.read == ReadAll {
			_, err = io.ReadAll(response.Body)
			return 0, err
		}
		room := pool.Get().(*[]byte)
		defer pool.Put(room)
		_, err = io.ReadFull(response.Body, *room)
		return 0, err
	}
}

// Allocations of the whole process are counted, the server's included; the
// servers are the same.
func TestTheClientAllocatesNoMoreThanABareOne(t *testing.T) {
	for _, a := range arms {
		ours, bare := workertest.Allocations(t, a.client(t)), workertest.Allocations(t, a.bare(t))
		t.Logf("%s: %.1f allocations per exchange, bare %.1f", a.name, ours, bare)
		if ours > bare+1 {
			t.Errorf("%s: %.1f allocations per exchange, a bare client of net/http has %.1f", a.name, ours, bare)
		}
	}
}

func TestTheServerAllocatesNoMoreThanABareOne(t *testing.T) {
	for _, a := range []arm{{name: "down", down: 100}, {name: "both", up: 100, down: 100}} {
		a.read = ReadAll
		ours := workertest.Allocations(t, a.raw(t, a.server(t)))
		content, reply := make([]byte, a.up), make([]byte, a.down)
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			io.ReadFull(r.Body, content)
			w.Header().Set("Content-Type", "application/octet-stream")
			w.Header().Set("Content-Length", strconv.Itoa(len(reply)))
			w.Write(reply)
		})}
		t.Cleanup(func() { server.Close() })
		go server.Serve(l)
		bare := workertest.Allocations(t, a.raw(t, l.Addr().String()))
		t.Logf("%s: %.1f allocations per exchange, bare %.1f", a.name, ours, bare)
		if ours > bare+1 {
			t.Errorf("%s: %.1f allocations per exchange, a bare server of net/http has %.1f", a.name, ours, bare)
		}
	}
}

// raw returns an exchange by a client that allocates nothing.
func (a arm) raw(t testing.TB, address string) load.Call {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	request := []byte("GET /x HTTP/1.1\r\nHost: x\r\n\r\n")
	if a.up > 0 {
		request = fmt.Appendf(nil, "POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", a.up, make([]byte, a.up))
	}
	r := bufio.NewReader(conn)
	return func() (int64, error) {
		if _, err := conn.Write(request); err != nil {
			return 0, err
		}
		for {
			line, err := r.ReadSlice('\n')
			if err != nil {
				return 0, err
			}
			if len(line) == 2 {
				_, err := r.Discard(int(a.down))
				return 0, err
			}
		}
	}
}
