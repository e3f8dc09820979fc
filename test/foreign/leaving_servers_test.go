package foreign_test

import (
	"crypto/tls"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/programs"
	"netdyno/test/shop"
)

// grpc-go's own server ends every connection at an age.
func TestGRPCServerWithMaxConnectionAge(t *testing.T) {
	for _, client := range []string{"go-grpc", "grpc-nghttp2", "grpc-nghttp2-asio"} {
		for _, streams := range []string{"inflight=1", "inflight=4"} {
			t.Run(client+", "+streams, func(t *testing.T) {
				t.Parallel()
				need(t, nil, "address", client)
				s := &counting{}
				s.address = shop.Serve(t, func(stream grpc.ServerStream, _ string, request []byte) error {
					s.taken.Add(1)
					time.Sleep(time.Millisecond)
					return stream.SendMsg(request)
				}, grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 30 * time.Millisecond}))
				r := trial(t, "client="+client, "server=address", "opt.server.wire=grpc:netdyno.v1", "opt.server.address="+s.address, "opt.client.verify=status",
					"opt.client.method=/shop.v1.Shop/Buy", "opt.client.codec=raw", "request=0B", "response=0B", "amount=300", streams)
				s.agrees(t, r, 2, true)
			})
		}
	}
}

// nginx ends a connection after keepalive_requests, of HTTP/1.1 by a header and of
// HTTP/2 by GOAWAY; its own log says how many requests it took.
func TestNginxEndsConnections(t *testing.T) {
	for _, c := range []struct{ client, wire, streams string }{
		{"go-http1", "http/1.1", "inflight=1"}, {"fasthttp", "http/1.1", "inflight=1"}, {"http1-uring", "http/1.1", "inflight=1"},
		{"go-http2", "h2c", "inflight=1"}, {"go-http2", "h2c", "inflight=4"}, {"h2-uring", "h2c", "inflight=1"}, {"h2-asio", "h2c", "inflight=4"},
	} {
		t.Run(c.client+", "+c.streams, func(t *testing.T) {
			t.Parallel()
			need(t, []string{"nginx"}, "address", c.client)
			port, own := freePort(t), t.TempDir()
			if err := os.WriteFile(filepath.Join(own, "small"), []byte("hello"), 0o600); err != nil {
				t.Fatal(err)
			}
			n := programs.Nginx{Own: own, Root: own, Listen: "127.0.0.1:" + port, HTTP: "keepalive_requests 50; log_format status '$status';", Server: "access_log OWN/access status;"}
			n.Server = strings.ReplaceAll(n.Server, "OWN", own)
			if c.wire == "h2c" {
				n.Listen += " http2"
			}
			argv, err := n.Command()
			if err != nil {
				t.Fatal(err)
			}
			programs.Start(t, "127.0.0.1:"+port, argv...)
			least := int64(0)
			asked := func(amount string) (record.Record, int64) {
				r := trial(t, "client="+c.client, "server=address", "opt.server.wire="+c.wire, "opt.server.address=127.0.0.1:"+port, "opt.client.path=/small",
					"opt.client.verify=length", "request=0B", "response=5B", "amount="+amount, c.streams)
				sent, _ := r.Sent()
				least += sent.All() - sent.Again
				return r, logged(t, filepath.Join(own, "access"), "200\n", least)
			}
			few, before := asked("4")
			completed(t, few, 8)
			r, all := asked("200")
			s := &counting{}
			s.taken.Store(all - before)
			s.agrees(t, r, before-8, true)
		})
	}
}

// cutting is a listener that ends connections within a write of theirs.
type cutting struct {
	net.Listener
	cuts func() bool // whether the write that comes is cut
}

// Accept implements net.Listener.
func (c cutting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	return cut{conn, c.cuts}, err
}

type cut struct {
	net.Conn
	cuts func() bool
}

// Write implements net.Conn.
func (c cut) Write(b []byte) (int, error) {
	if !c.cuts() {
		return c.Conn.Write(b)
	}
	_, _ = c.Conn.Write(b[:len(b)-1])
	return 0, c.Close()
}

// A client goes on with another connection where a server cuts an encrypted one within a
// record, of a handshake or of a reply.
func TestEncryptedConnectionsThatAreCut(t *testing.T) {
	for client, wire := range map[string]string{"go-http1": "http/1.1", "http1-uring": "http/1.1", "http1-asio": "http/1.1", "h2-uring": "h2c", "h2-asio": "h2c"} {
		for _, fresh := range []string{"no", "yes"} { // with yes handshakes are cut, too
			t.Run(client+", fresh="+fresh, func(t *testing.T) {
				t.Parallel()
				need(t, nil, "address", client)
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				writes := atomic.Int64{}
				server := &http.Server{ErrorLog: log.New(io.Discard, "", 0), TLSConfig: &tls.Config{Certificates: []tls.Certificate{*certificate(t)}},
					Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") })}
				t.Cleanup(func() { _ = server.Close() })
				go func() {
					_ = server.ServeTLS(cutting{l, func() bool { n := writes.Add(1); return n > 60 && n%11 == 0 }}, "", "")
				}()
				r := trial(t, "client="+client, "server=address", "tls=yes", "opt.server.wire="+wire, "opt.server.address="+l.Addr().String(), "opt.client.insecure=yes",
					"opt.client.verify=length", "request=0B", "response=5B", "amount=50", "max_errors=60%", "fresh="+fresh)
				if r.Outcome != record.OK {
					t.Fatalf("the trial is %s: %+v", r.Outcome, r.Failure)
				}
				for _, w := range r.Workers {
					if w.Role == contract.Client && w.Result.Counts.Exchanges+w.Result.Counts.Errors[contract.Peer] != 100 {
						t.Errorf("%d exchanges and %v errors, want them to be all 100", w.Result.Counts.Exchanges, w.Result.Counts.Errors)
					}
				}
			})
		}
	}
}
