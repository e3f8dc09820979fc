package native_test

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"maps"
	"net"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/shop"
)

// A server of grpc-go that answers only the right call gets it, plain and encrypted.
func TestGRPCNghttp2CallsAreAsTheUserSays(t *testing.T) {
	certificate := workertest.Certificate(t)
	paper, err := tls.X509KeyPair([]byte(certificate.Certificate), []byte(certificate.Key))
	if err != nil {
		t.Fatal(err)
	}
	plain := shop.Serve(t, shop.Keeper)
	secret := shop.Serve(t, shop.Keeper, grpc.Creds(credentials.NewServerTLSFromCert(&paper)))
	trusted := map[string]any{"ca": pemFile(t, certificate.Authorities), "sni": "127.0.0.1"}
	for name, load := range map[string]contract.Load{
		"kept": {Connections: 2, Amount: 20}, "fresh": {Connections: 2, Amount: 2, Fresh: true}, "in flight": {Connections: 1, InFlight: 3, Amount: 20},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, c := range []struct {
				at   string
				tls  *contract.TLS
				more map[string]any
			}{{plain, nil, nil}, {secret, &contract.TLS{Authorities: workertest.Certificate(t).Authorities}, trusted}} {
				options := shop.Asked()
				maps.Copy(options, c.more)
				got := drive(t, ours, contract.Setup{Peers: []string{c.at}, Exchange: blocks(int64(len(shop.Order)), 4), Load: load, TLS: c.tls, Options: options})
				if n := int64(load.Connections) * load.Amount; got.Exchanges != n || len(got.Errors) > 0 || got.ReceivedBytes != 4*n || got.SentBytes != int64(len(shop.Order))*n {
					t.Errorf("counts %+v, want %d exchanges", got, n)
				}
			}
		})
	}
}

func TestGRPCNghttp2TakesRepliesOfAnyLength(t *testing.T) {
	var calls atomic.Int64
	at := shop.Serve(t, func(stream grpc.ServerStream, _ string, _ []byte) error {
		return stream.SendMsg(make([]byte, calls.Add(1)%7))
	})
	got := drive(t, ours, contract.Setup{
		Peers: []string{at}, Exchange: blocks(0, 1), Load: contract.Load{Connections: 1, Amount: 14}, Options: shop.Asked("verify", "status", "body", ""),
	})
	if got.Exchanges != 14 || got.ReceivedBytes != 2*21 || len(got.Errors) > 0 {
		t.Errorf("counts %+v, want 14 replies of 42 bytes in all", got)
	}
}

// A service that generated code serves takes the call in every way in which replies are
// compared, plain and encrypted, by an :authority beside the certificate's name.
func TestGRPCNghttp2CallsHealth(t *testing.T) {
	certificate := workertest.Certificate(t)
	paper, err := tls.X509KeyPair([]byte(certificate.Certificate), []byte(certificate.Key))
	if err != nil {
		t.Fatal(err)
	}
	request, err := proto.Marshal(&grpc_health_v1.HealthCheckRequest{Service: "shop.v1.Shop"})
	if err != nil {
		t.Fatal(err)
	}
	reply, err := proto.Marshal(&grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING})
	if err != nil {
		t.Fatal(err)
	}
	asked := map[string]any{
		"codec": "raw", "method": grpc_health_v1.Health_Check_FullMethodName, "body": base64.StdEncoding.EncodeToString(request),
		"host": "shop.example:7", "headers": "x-key: 1\nTrace-Bin: //79\nuser-agent: mine\ngrpc-timeout: 1n",
	}
	trusted := map[string]any{"ca": pemFile(t, certificate.Authorities), "sni": "127.0.0.1"}
	plain := serveHealth(t)
	secret := serveHealth(t, grpc.Creds(credentials.NewServerTLSFromCert(&paper)))
	for _, verify := range []string{"length", "status"} {
		options := maps.Clone(asked)
		options["verify"] = verify
		down := int64(len(reply))
		if verify == "status" {
			down = 100 // any
		}
		trial := contract.Setup{Peers: []string{plain}, Exchange: blocks(int64(len(request)), down), Load: contract.Load{Connections: 2, InFlight: 3, Amount: 20}, Options: options}
		encrypted := trial
		encrypted.Peers, encrypted.TLS, encrypted.Options = []string{secret}, &contract.TLS{Authorities: workertest.Certificate(t).Authorities}, maps.Clone(options)
		maps.Copy(encrypted.Options, trusted)
		for name, setup := range map[string]contract.Setup{"plain": trial, "encrypted": encrypted} {
			t.Run(verify+", "+name, func(t *testing.T) {
				got := drive(t, ours, setup)
				if got.Exchanges != 40 || len(got.Errors) > 0 || got.ReceivedBytes != 40*int64(len(reply)) || got.SentBytes != 40*int64(len(request)) {
					t.Errorf("counts %+v, want 40 exchanges of %d and %d bytes", got, len(request), len(reply))
				}
			})
		}
	}
}

// serveHealth serves grpc.health.v1.Health, which knows one service, to calls with the
// metadata that its test sends.
func serveHealth(t *testing.T, how ...grpc.ServerOption) string {
	t.Helper()
	check := func(ctx context.Context, request any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		md, _ := metadata.FromIncomingContext(ctx)
		got := fmt.Sprintf("%v %v %q %v", md[":authority"], md["x-key"], md["trace-bin"], md["user-agent"])
		if want := `[shop.example:7] [1] ["\xff\xfe\xfd"] [netdyno]`; got != want {
			return nil, status.Errorf(codes.InvalidArgument, "got %s, want %s", got, want)
		}
		return next(ctx, request)
	}
	s := grpc.NewServer(append(how, grpc.UnaryInterceptor(check))...)
	shops := health.NewServer()
	shops.SetServingStatus("shop.v1.Shop", grpc_health_v1.HealthCheckResponse_SERVING)
	grpc_health_v1.RegisterHealthServer(s, shops)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = s.Serve(l) }() // it says that it was stopped
	t.Cleanup(s.Stop)
	return l.Addr().String()
}

// A reply of any length is still no longer than option max_message.
func TestGRPCNghttp2BoundsRepliesOfAnyLength(t *testing.T) {
	at := shop.Serve(t, func(stream grpc.ServerStream, _ string, _ []byte) error {
		return stream.SendMsg(make([]byte, 4<<20+1))
	})
	setup := contract.Setup{
		Transport: ours, Role: contract.Client, Peers: []string{at}, Exchange: blocks(0, 1), Load: contract.Load{Connections: 1, Amount: 3},
		Options: shop.Asked("verify", "status", "body", ""),
	}
	client := start(t, ours)
	setup.Options["max_message"] = 4 << 20
	client.send(contract.Message{Setup: &setup})
	if text := client.fatal(contract.Invalid); !strings.Contains(text, "longer than option max_message, 4194304 bytes") {
		t.Errorf("the client says %q", text)
	}
	delete(setup.Options, "max_message")
	if got := drive(t, ours, setup); got.ReceivedBytes != 3*(4<<20+1) || len(got.Errors) > 0 {
		t.Errorf("counts %+v, want three replies", got)
	}
}

func TestGRPCNghttp2RefusesWhatItCannotAsk(t *testing.T) {
	at := shop.Serve(t, shop.Keeper)
	order := blocks(int64(len(shop.Order)), 4)
	for _, c := range []struct {
		exchange contract.Exchange
		options  map[string]any
		kind     contract.ErrorKind
		want     string
	}{
		{order, shop.Asked("headers", "x-key"), contract.SetupFailed, "expected Name: value"},
		{order, shop.Asked("headers", "x!y: 1"), contract.SetupFailed, "expected Name: value"},
		{order, shop.Asked("headers", "x: "+strings.Repeat("x", 65<<10)), contract.SetupFailed, "at most 65536 bytes"},
		{order, shop.Asked("headers", "x-bin: ?"), contract.SetupFailed, "base64"},
		{order, shop.Asked("host", "a b"), contract.SetupFailed, "expected a host"},
		{order, shop.Asked("body", "?"), contract.SetupFailed, "no base64"},
		{blocks(1, 1), shop.Asked(), contract.SetupFailed, "7 bytes and the factor request says 1"},
		{order, shop.Asked("codec", "proto"), contract.Unsupported, "codec=raw"},
		{order, map[string]any{"verify": "status"}, contract.Unsupported, "codec=raw"},
		{streamed(contract.StreamBoth, 7, 4, 2), shop.Asked(), contract.Unsupported, "exchange.stream too"},
		{order, shop.Asked("method", "Shop/Buy"), contract.SetupFailed, "expected /package.Service/Method"},
		{order, shop.Asked("method", "/grpc.reflection.v1.ServerReflection/X"), contract.SetupFailed, "reflection"},
		{blocks(int64(len(shop.Order)), 5), shop.Asked(), contract.Invalid, "4 bytes, expected 5"},
		{order, shop.Asked("headers", ""), contract.Invalid, "grpc-status 3"},
	} {
		client := start(t, ours)
		client.send(contract.Message{Setup: &contract.Setup{
			Transport: ours, Role: contract.Client, Peers: []string{at}, Exchange: c.exchange, Load: contract.Load{Connections: 1}, Options: c.options,
		}})
		if text := client.fatal(c.kind); !strings.Contains(text, c.want) {
			t.Errorf("%v: the client says %q, want %q", c.options, text, c.want)
		}
	}
}
