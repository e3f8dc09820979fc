package foreign_test

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"netdyno/internal/record"
	"netdyno/test/programs"
)

// raw hands messages of gRPC on as they are.
type raw struct{}

func (raw) Marshal(v any) ([]byte, error) { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error {
	*v.(*[]byte) = append([]byte(nil), data...)
	return nil
}
func (raw) Name() string { return "proto" }

// grpc-go's own server ends every connection at an age.
func TestGRPCServerWithMaxConnectionAge(t *testing.T) {
	for _, client := range []string{"go-grpc", "grpc-nghttp2"} {
		for _, streams := range []string{"inflight=1", "inflight=4"} {
			t.Run(client+", "+streams, func(t *testing.T) {
				need(t, nil, "address", client)
				l, err := net.Listen("tcp", "127.0.0.1:0")
				if err != nil {
					t.Fatal(err)
				}
				s := &counting{address: l.Addr().String()}
				server := grpc.NewServer(grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 30 * time.Millisecond}),
					grpc.ForceServerCodec(raw{}), grpc.UnknownServiceHandler(s.echo))
				t.Cleanup(server.Stop)
				go func() { _ = server.Serve(l) }()
				r := trial(t, "client="+client, "server=address", "opt.server.wire=grpc:netdyno.v1", "opt.server.address="+s.address, "opt.client.verify=status",
					"opt.client.method=/shop.v1.Shop/Buy", "opt.client.codec=raw", "request=0B", "response=0B", "amount=300", streams)
				s.agrees(t, r, 2, true)
			})
		}
	}
}

func (s *counting) echo(_ any, stream grpc.ServerStream) error {
	s.taken.Add(1)
	var message []byte
	if err := stream.RecvMsg(&message); err != nil {
		return err
	}
	time.Sleep(time.Millisecond)
	return stream.SendMsg(&message)
}

// nginx ends a connection after keepalive_requests, of HTTP/1.1 by a header and of
// HTTP/2 by GOAWAY; its own log says how many requests it took.
func TestNginxEndsConnections(t *testing.T) {
	for _, c := range []struct{ client, wire, streams string }{
		{"go-http1", "http/1.1", "inflight=1"}, {"fasthttp", "http/1.1", "inflight=1"}, {"http1-uring", "http/1.1", "inflight=1"},
		{"go-http2", "h2c", "inflight=1"}, {"go-http2", "h2c", "inflight=4"}, {"h2-uring", "h2c", "inflight=1"}, {"h2-asio", "h2c", "inflight=4"},
	} {
		t.Run(c.client+", "+c.streams, func(t *testing.T) {
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
			asked := func(amount string) (record.Record, int64) {
				r := trial(t, "client="+c.client, "server=address", "opt.server.wire="+c.wire, "opt.server.address=127.0.0.1:"+port, "opt.client.path=/small",
					"opt.client.verify=length", "request=0B", "response=5B", "amount="+amount, c.streams)
				time.Sleep(50 * time.Millisecond) // nginx logs a request after its reply
				log, err := os.ReadFile(filepath.Join(own, "access"))
				if err != nil {
					t.Fatal(err)
				}
				return r, int64(strings.Count(string(log), "200\n"))
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
