package native_test

import (
	"bytes"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// peer is what a test does as the other end, on a stream that has begun. It says
// whether the connection goes on.
type peer = func(p *workertest.H2Peer, stream uint32) bool

// once does what ends the connection.
func once(do func(p *workertest.H2Peer, stream uint32)) peer {
	return func(p *workertest.H2Peer, stream uint32) bool {
		do(p, stream)
		// The client says goodbye, or is gone: what it does must not be a reset of ours.
		_ = p.SetReadDeadline(time.Now().Add(timeout))
		_, _ = io.Copy(io.Discard, p.Conn)
		return false
	}
}

// goesOn does what ends one stream.
func goesOn(do func(p *workertest.H2Peer, stream uint32)) peer {
	return func(p *workertest.H2Peer, stream uint32) bool {
		do(p, stream)
		return true
	}
}

// continued writes headers of so many bytes, in frames as large as are allowed.
func continued(p *workertest.H2Peer, stream uint32, size int) {
	const most = 16 << 10
	block := append(p.Block(":status", "200"), p.Block("x", strings.Repeat("x", most/2))...)
	_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: stream, BlockFragment: block})
	for n := len(block); n < size; n += most / 2 {
		if p.WriteContinuation(stream, false, p.Block("x", strings.Repeat("x", most/2))) != nil {
			return
		}
	}
	_ = p.WriteContinuation(stream, true, nil)
}

// flood writes a frame that asks for an answer so often that whoever keeps the answers
// runs out of room: no buffer of the kernel holds them all.
func flood(p *workertest.H2Peer, of http2.FrameType, payload int) {
	one := append([]byte{0, 0, byte(payload), byte(of), 0, 0, 0, 0, 0}, make([]byte, payload)...)
	many := bytes.Repeat(one, 1000)
	for range 2000 {
		if _, err := p.Conn.Write(many); err != nil {
			return
		}
	}
}

// What servers do wrong on HTTP/2 counts by its kind, and the other connection goes on.
func TestH2ServersThatMisbehaveAreCountedByKind(t *testing.T) {
	for name, c := range map[string]struct {
		wrong peer
		kind  contract.ErrorKind
	}{
		"shorter": {goesOn(func(p *workertest.H2Peer, s uint32) { p.Reply(s, 99, 99) }), contract.Invalid},
		"longer":  {goesOn(func(p *workertest.H2Peer, s uint32) { p.Reply(s, 101, 101) }), contract.Invalid},
		"lies":    {goesOn(func(p *workertest.H2Peer, s uint32) { p.Reply(s, 100, 99) }), contract.Invalid},
		"status": {goesOn(func(p *workertest.H2Peer, s uint32) {
			p.Fields(s, true, ":status", "500")
		}), contract.Invalid},
		"no status":          {goesOn(func(p *workertest.H2Peer, s uint32) { p.Fields(s, true, "server", "x") }), contract.Invalid},
		"a name in capitals": {goesOn(func(p *workertest.H2Peer, s uint32) { p.Fields(s, true, ":status", "200", "Server", "x") }), contract.Invalid},
		"endless": {goesOn(func(p *workertest.H2Peer, s uint32) {
			p.Fields(s, false, ":status", "200")
			for range 30 {
				_ = p.WriteData(s, false, make([]byte, 16<<10))
			}
		}), contract.Invalid},
		"headers of 10 MB": {once(func(p *workertest.H2Peer, s uint32) { continued(p, s, 10<<20) }), contract.Invalid},
		"1xx": {goesOn(func(p *workertest.H2Peer, s uint32) {
			for range 1 << 14 {
				p.Fields(s, false, ":status", "102")
			}
		}), contract.Invalid},
		"a reset": {goesOn(func(p *workertest.H2Peer, s uint32) { _ = p.WriteRSTStream(s, http2.ErrCodeInternal) }), contract.Peer},
		"a reset in a body": {goesOn(func(p *workertest.H2Peer, s uint32) {
			p.Fields(s, false, ":status", "200", "content-length", "100")
			_ = p.WriteData(s, false, make([]byte, 50))
			_ = p.WriteRSTStream(s, http2.ErrCodeCancel)
		}), contract.Peer},
		"goes away": {func(p *workertest.H2Peer, s uint32) bool {
			_ = p.WriteGoAway(s, http2.ErrCodeInternal, []byte("broken"))
			return false
		}, contract.Peer},
		"settings, a flood": {once(func(p *workertest.H2Peer, _ uint32) { flood(p, http2.FrameSettings, 0) }), contract.Invalid},
		"pings, a flood":    {once(func(p *workertest.H2Peer, _ uint32) { flood(p, http2.FramePing, 8) }), contract.Invalid},
		"a push": {once(func(p *workertest.H2Peer, s uint32) {
			block := p.Block(":method", "GET", ":scheme", "http", ":path", "/", ":authority", "x")
			_ = p.WritePushPromise(http2.PushPromiseParam{StreamID: s, PromiseID: 2, BlockFragment: block, EndHeaders: true})
		}), contract.Invalid},
		"no HPACK": {once(func(p *workertest.H2Peer, s uint32) {
			_ = p.WriteHeaders(http2.HeadersFrameParam{StreamID: s, BlockFragment: []byte("\xff\xff\xff\xff\xff\xff"), EndHeaders: true})
		}), contract.Invalid},
		"too large a window": {once(func(p *workertest.H2Peer, s uint32) {
			for range 2 {
				_ = p.WriteWindowUpdate(0, 1<<31-1)
			}
		}), contract.Invalid},
		"data on no stream": {once(func(p *workertest.H2Peer, _ uint32) { _ = p.WriteRawFrame(http2.FrameData, 0, 0, []byte("x")) }), contract.Invalid},
		"too large a frame": {once(func(p *workertest.H2Peer, s uint32) {
			_ = p.WriteRawFrame(http2.FrameData, 0, s, make([]byte, 1<<20))
		}), contract.Invalid},
		"no HTTP":   {once(func(p *workertest.H2Peer, _ uint32) { _, _ = io.WriteString(p.Conn, "SSH-2.0-OpenSSH_9.2\r\n") }), contract.Invalid},
		"truncated": {func(p *workertest.H2Peer, s uint32) bool { p.Fields(s, false, ":status", "200"); return false }, contract.Peer},
		"silence":   {func(*workertest.H2Peer, uint32) bool { return false }, contract.Peer},
	} {
		for _, transport := range nativeH2 {
			t.Run(transport+"/"+name, func(t *testing.T) {
				t.Parallel()
				right := func(p *workertest.H2Peer, s uint32) bool { p.Reply(s, 100, 100); return true }
				got := drive(t, transport, contract.Setup{
					Peers: []string{workertest.MisbehavingH2(t, c.wrong), workertest.MisbehavingH2(t, right)}, Exchange: blocks(0, 100),
					Load: contract.Load{Connections: 2, Amount: 3}, Options: map[string]any{"verify": "length"},
				})
				if got.Errors[c.kind] != 1 || got.Exchanges != 2+3 || len(got.Errors) != 1 {
					t.Errorf("counts %+v, want 5 exchanges and one error of kind %s", got, c.kind)
				}
			})
		}
	}
}

// Whatever a client sends ends at most its own connection: the server serves on.
func TestH2ServersSurviveTheirClients(t *testing.T) {
	request := []string{":method", "GET", ":scheme", "http", ":path", "/", ":authority", "x"}
	wrongs := map[string]func(p *workertest.H2Peer){
		"no request": func(p *workertest.H2Peer) {},
		"no HPACK": func(p *workertest.H2Peer) {
			_ = p.WriteRawFrame(http2.FrameHeaders, http2.FlagHeadersEndHeaders, 1, []byte("\xff\xff\xff\xff\xff"))
		},
		"headers of 10 MB": func(p *workertest.H2Peer) { continued(p, 1, 10<<20) },
		"rapid resets": func(p *workertest.H2Peer) {
			for s := uint32(1); s < 100_000; s += 2 {
				p.Fields(s, false, request...)
				if p.WriteRSTStream(s, http2.ErrCodeCancel) != nil {
					return
				}
			}
		},
		"too many streams": func(p *workertest.H2Peer) {
			for s := uint32(1); s < 10_000; s += 2 {
				p.Fields(s, false, request...)
			}
		},
		"settings, a flood":       func(p *workertest.H2Peer) { flood(p, http2.FrameSettings, 0) },
		"a stream of the server":  func(p *workertest.H2Peer) { p.Fields(2, true, request...) },
		"a window that overflows": func(p *workertest.H2Peer) { _ = p.WriteWindowUpdate(0, 1<<31-1) },
		"a frame that lies":       func(p *workertest.H2Peer) { _, _ = io.WriteString(p.Conn, "\xff\xff\xff\x00\x00\x00\x00\x00\x01") },
	}
	for _, transport := range []string{"h2-uring", "h2-asio", "grpc-nghttp2", "grpc-nghttp2-asio", "grpcpp"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			server := start(t, transport)
			at := server.setup(contract.Setup{Role: contract.Server, Listen: "127.0.0.1:0", Exchange: blocks(100, 50)}).Addresses
			for name, wrong := range wrongs {
				if transport == "grpcpp" && name != "no HPACK" && name != "a frame that lies" {
					continue // whose library takes its time over a flood
				}
				conn, err := net.Dial("tcp", at[0])
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				_, _ = io.WriteString(conn, http2.ClientPreface) // it may be closed by now, here and below
				p := workertest.NewH2Peer(conn)
				_ = p.WriteSettings()
				wrong(p)
				_ = conn.(*net.TCPConn).CloseWrite()
				_ = conn.SetReadDeadline(time.Now().Add(timeout))
				if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
					t.Errorf("%s: the connection stays open", name)
				}
				_ = conn.Close()
			}
			got := drive(t, transport, contract.Setup{Peers: at, Exchange: blocks(100, 50), Load: contract.Load{Connections: 2, Amount: 10}})
			if got.Exchanges != 20 || len(got.Errors) > 0 {
				t.Errorf("after all that, counts %+v, want 20 exchanges and no error", got)
			}
		})
	}
}
