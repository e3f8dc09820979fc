package workers_test

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	h3 "github.com/quic-go/quic-go/http3"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// Nothing listens: the kernel says so at once. Something listens and says nothing: the client
// gives up by itself, and says what may be the matter with UDP.
func TestSilenceOverUDPIsTold(t *testing.T) {
	for _, of := range []string{"go-http3", "go-quic"} {
		t.Run(of, func(t *testing.T) {
			t.Parallel()
			socket, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
			if err != nil {
				t.Fatal(err)
			}
			defer socket.Close()
			p := between(t, of, blocks(10, 10))
			silent := p.Refused(t, all, socket.LocalAddr().String())
			workertest.Says(t, "silence", silent, "connect 1 of 1", "over UDP", "drops UDP")
			socket.Close()
			absent := p.Refused(t, all, socket.LocalAddr().String())
			workertest.Says(t, "nobody", absent, "nothing listens there")
			if silent.Kind != contract.Timeout || absent.Kind != contract.Peer {
				t.Errorf("kinds %s and %s, want %s and %s", silent.Kind, absent.Kind, contract.Timeout, contract.Peer)
			}
		})
	}
}

// serveHTTP3 serves the connections of HTTP/3 that come, each by a server of its own.
func serveHTTP3(t *testing.T, secret *contract.TLS, of func() *h3.Server) (address string) {
	t.Helper()
	pair, err := tls.X509KeyPair([]byte(secret.Certificate), []byte(secret.Key))
	if err != nil {
		t.Fatal(err)
	}
	l, err := quic.ListenAddr("127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{pair}, NextProtos: []string{h3.NextProtoH3}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept(context.Background())
			if err != nil {
				return // closed
			}
			go func() { _ = of().ServeQUICConn(conn) }() // it ends as the test wants it to
		}
	}()
	return l.Addr().String()
}

func TestStagesAreToldOverQUIC(t *testing.T) {
	secret := workertest.Certificate(t)
	address := serveHTTP3(t, secret, func() *h3.Server { return &h3.Server{Handler: http.HandlerFunc(workertest.HoldReplies)} })
	workertest.StagesOf(t, contract.Setup{Transport: "go-http3", Peers: []string{address}, TLS: secret}, false, driven)
}

// Streams that are reset and replies that lie about their length are failed exchanges; of
// connections that a server leaves (GOAWAY, RFC 9114, section 5.2) nothing is lost.
func TestServersOfHTTP3ThatMisbehave(t *testing.T) {
	secret := workertest.Certificate(t)
	of := func(l contract.Load, verify string) trial {
		return trial{By: "go-http3", Exchange: blocks(0, 5), TLS: secret, Load: l, Client: option("verify", verify)}
	}
	t.Run("resets streams", func(t *testing.T) {
		t.Parallel()
		var taken atomic.Int64
		address := serveHTTP3(t, secret, func() *h3.Server {
			return &h3.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if taken.Add(1) > 1 { // the first verifies
					panic(http.ErrAbortHandler) // resets the stream
				}
				_, _ = w.Write([]byte("hello"))
			})}
		})
		if r := called(t, of(contract.Load{Connections: 1, InFlight: 2, Amount: 60}, "length"), address); r.Counts.Exchanges != 0 || r.Counts.Errors[contract.Peer] != 60 || len(r.Reasons) != 1 {
			t.Errorf("counts %+v, reasons %v; want 60 errors of kind peer for one reason", r.Counts, r.Reasons)
		}
	})
	t.Run("never ends its reply", func(t *testing.T) {
		t.Parallel()
		address := serveHTTP3(t, secret, func() *h3.Server {
			return &h3.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				for err := error(nil); err == nil; {
					_, err = w.Write(make([]byte, 64<<10))
				}
			})}
		})
		if err := of(contract.Load{}, "length").Refused(t, all, address); err.Kind != contract.Invalid {
			t.Errorf("error %+v, want one of kind invalid", err)
		}
	})
	for name, inFlight := range map[string]int{"leaves, one at a time": 1, "leaves, four in flight": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var taken atomic.Int64
			address := serveHTTP3(t, secret, func() *h3.Server {
				var n atomic.Int64
				server := &h3.Server{}
				server.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					taken.Add(1)
					if n.Add(1) == 17 {
						go func() {
							ctx, cancel := context.WithTimeout(context.Background(), time.Second)
							defer cancel()
							_ = server.Shutdown(ctx) // the client closes, or is cut off
						}()
					}
					_, _ = w.Write([]byte("hello"))
				})
				return server
			})
			r := called(t, of(contract.Load{Connections: 2, InFlight: inFlight, Amount: 100}, "status"), address)
			if verified := int64(2); r.Counts.Exchanges != 200 || len(r.Counts.Errors) > 0 || r.Counts.Redialled < 5 || taken.Load()-verified != 200 {
				t.Errorf("counts %+v, reasons %v, the server took %d; want 200 exchanges, and connections made again", r.Counts, r.Reasons, taken.Load())
			}
		})
	}
}
