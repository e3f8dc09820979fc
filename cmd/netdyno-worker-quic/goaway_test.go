package main

import (
	"context"
	"crypto/tls"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
	h3 "github.com/quic-go/quic-go/http3"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// leaving starts a server of HTTP/3 that leaves each connection (GOAWAY, RFC 9114,
// section 5.2) after so many requests, and counts them.
func leaving(t *testing.T, after int64, secret *contract.TLS) (address string, taken *atomic.Int64) {
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
	taken = &atomic.Int64{}
	go func() {
		for {
			conn, err := l.Accept(context.Background())
			if err != nil {
				return // closed
			}
			go func() {
				var n atomic.Int64
				server := &h3.Server{}
				server.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					taken.Add(1)
					if n.Add(1) == after {
						go func() {
							ctx, cancel := context.WithTimeout(context.Background(), time.Second)
							defer cancel()
							_ = server.Shutdown(ctx) // the client closes, or is cut off
						}()
					}
					_, _ = w.Write([]byte("hello"))
				})
				_ = server.ServeQUICConn(conn) // it ends as the test wants it to
			}()
		}
	}()
	return l.Addr().String(), taken
}

// The client goes on with another connection when a server leaves one.
func TestAServerThatLeavesConnectionsOfHTTP3(t *testing.T) {
	t.Parallel()
	for name, inFlight := range map[string]int{"one at a time": 1, "four in flight": 4} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			secret := workertest.Certificate(t)
			address, taken := leaving(t, 17, secret)
			p := trial{Exchange: blocks(0, 5), TLS: secret, Load: contract.Load{Connections: 2, InFlight: inFlight, Amount: 100}, Client: map[string]any{"verify": "status"}}
			client := p.Dial(t, http3, address)
			before := taken.Load()
			client.Start()
			r := client.Expect("result").Result
			if r.Counts.Exchanges != 200 || len(r.Counts.Errors) > 0 || r.Counts.Redialled < 5 || taken.Load()-before != 200 {
				t.Errorf("counts %+v, reasons %v, the server took %d; want 200 exchanges, and connections made again", r.Counts, r.Reasons, taken.Load()-before)
			}
		})
	}
}
