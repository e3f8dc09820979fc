package gogrpc

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// framed is a message of gRPC as it crosses the wire, which says that it has n bytes.
func framed(flag byte, n int, message string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{flag}, uint32(n)), message...)
}

// begins sends the head of a reply of gRPC with further fields.
func begins(p *workertest.H2Peer, stream uint32, more ...string) {
	p.Fields(stream, false, append([]string{":status", "200", "content-type", "application/grpc"}, more...)...)
}

// hostile answers the first call of a connection with a message, and lets wrong answer others;
// it hangs up where that returns false.
func hostile(t *testing.T, wrong func(p *workertest.H2Peer, stream uint32) (more bool)) string {
	return workertest.Serve(t, func(conn net.Conn) {
		if _, err := io.CopyN(io.Discard, conn, int64(len(http2.ClientPreface))); err != nil {
			return
		}
		p := workertest.NewH2Peer(conn)
		_ = p.WriteSettings()
		for first := true; ; first = false {
			stream, more := p.Request()
			switch {
			case !more:
				return
			case first:
				begins(p, stream)
				_ = p.WriteData(stream, false, framed(0, 3, "abc"))
				p.Fields(stream, true, "grpc-status", "0")
			case !wrong(p, stream):
				return
			}
		}
	})
}

// zeros is a gzip stream of so many bytes.
func zeros(n int64) string {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = io.CopyN(w, zero{}, n)
	_ = w.Close()
	return packed.String()
}

type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// manyZeros fit into the first window, packed.
var manyZeros = zeros(32 << 20)

func ends(p *workertest.H2Peer, stream uint32) { p.Fields(stream, true, "grpc-status", "0") }

// breaks are what servers do wrong within a stream, what it counts as, and what its reason has.
var breaks = map[string]struct {
	wrong func(p *workertest.H2Peer, stream uint32) (more bool)
	kind  contract.ErrorKind
	want  string
}{
	"packed, and no encoding said": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		_ = p.WriteData(s, false, framed(1, 3, "abc"))
		ends(p, s)
		return true
	}, contract.Invalid, "Internal"},
	"packed by what is unknown": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s, "grpc-encoding", "br")
		_ = p.WriteData(s, false, framed(1, 3, "abc"))
		ends(p, s)
		return true
	}, contract.Invalid, "br"},
	"packed, a lie": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s, "grpc-encoding", "gzip")
		_ = p.WriteData(s, false, framed(1, 3, "abc"))
		ends(p, s)
		return true
	}, contract.Invalid, "Internal"},
	"many zeros, packed": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s, "grpc-encoding", "gzip")
		for data := framed(1, len(manyZeros), manyZeros); len(data) > 0; data = data[min(len(data), 16<<10):] {
			_ = p.WriteData(s, false, data[:min(len(data), 16<<10)])
		}
		ends(p, s)
		return true
	}, contract.Invalid, "ResourceExhausted"},
	"a prefix of 1 GiB": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		_ = p.WriteData(s, false, framed(0, 1<<30, "abc"))
		return true
	}, contract.Invalid, "ResourceExhausted"},
	"a prefix of 10 bytes beyond the body": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		_ = p.WriteData(s, false, framed(0, 10, "abc"))
		ends(p, s)
		return true
	}, contract.Invalid, "Internal"},
	"an unknown flag": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		_ = p.WriteData(s, false, framed(7, 3, "abc"))
		ends(p, s)
		return true
	}, contract.Invalid, "Internal"},
	"no status": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		p.Fields(s, true, "x", "y")
		return true
	}, contract.Invalid, "Unknown"},
	"an end without trailers": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		_ = p.WriteData(s, true, framed(0, 3, "abc"))
		return true
	}, contract.Invalid, "Internal"},
	"a page of HTML": {func(p *workertest.H2Peer, s uint32) bool {
		p.Fields(s, false, ":status", "200", "content-type", "text/html")
		_ = p.WriteData(s, true, []byte("<html>\x1b[31m"))
		return true
	}, contract.Invalid, "content-type"},
	"a reset within a message": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		_ = p.WriteData(s, false, framed(0, 10, "abc"))
		_ = p.WriteRSTStream(s, http2.ErrCodeCancel)
		return true
	}, contract.Peer, "Canceled"},
	"GOAWAY within a stream": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		_ = p.WriteData(s, false, framed(0, 3, "abc"))
		_ = p.WriteGoAway(s, http2.ErrCodeNo, nil)
		return false
	}, contract.Peer, "Unavailable"},
	"an end of the connection": {func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		_ = p.WriteData(s, false, framed(0, 10, "abc"))
		return false
	}, contract.Peer, "Unavailable"},
}

// A server that breaks the protocol within a stream has failed the call, by the right kind, and
// costs no memory beyond the bound of a message.
func TestAHostileServersStreamsFail(t *testing.T) {
	for name, c := range breaks {
		t.Run(name, func(t *testing.T) {
			client, err := clientOfTheirs(t, "Watch", "down", []string{field(7)}, func(s *contract.Setup) {
				s.Peers, s.Load.Connections = []string{hostile(t, c.wrong)}, 1
				s.Options["max_message"] = int64(4 << 20)
			})
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			result := workertest.ResultOf(t, client, func(n contract.Counts) bool { return n.Errors[c.kind] >= 2 })
			runtime.ReadMemStats(&after)
			made := result.Counts.Exchanges > 0 && c.kind != contract.Peer // else on another connection, whose first call is answered
			if made || len(result.Counts.Errors) != 1 || len(result.Reasons) == 0 || !strings.Contains(result.Reasons[0].Text, c.want) {
				t.Errorf("%+v, %+v; want errors of kind %s with %q", result.Counts, result.Reasons, c.kind, c.want)
			}
			const most = 16 << 20
			if grown, calls := after.TotalAlloc-before.TotalAlloc, result.Counts.Errors[c.kind]+1; grown > most*uint64(calls) {
				t.Errorf("%d failures took %d MiB of memory", result.Counts.Errors[c.kind], grown>>20)
			}
		})
	}
}

// A stream that brings more than anybody reads, and does not end, is ended by the client, in
// bounded memory and on the same connection.
func TestAStreamWithoutEndIsEnded(t *testing.T) {
	flood := func(p *workertest.H2Peer, s uint32) bool {
		begins(p, s)
		data := bytes.Repeat(framed(0, 3, "abc"), 2000)
		for range 4000 { // 64 MB at most, whatever the windows say
			if p.WriteData(s, false, data) != nil {
				return false
			}
		}
		return true
	}
	client, err := clientOfTheirs(t, "Watch", "down", []string{field(7)}, func(s *contract.Setup) {
		s.Peers, s.Load.Connections = []string{hostile(t, flood)}, 1
		s.Options["most_events"] = int64(100)
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	done := make(chan contract.Result)
	go func() {
		done <- workertest.ResultOf(t, client, func(n contract.Counts) bool {
			return n.Exchanges >= 1 || n.Errors[contract.Invalid]+n.Errors[contract.Peer] > 0
		})
	}()
	select {
	case result := <-done:
		if result.Counts.Exchanges == 0 {
			t.Errorf("%+v, %+v", result.Counts, result.Reasons)
		}
	case <-time.After(30 * time.Second):
		t.Error("the client does not end the stream")
	}
}
