package native_test

import (
	"crypto/tls"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"

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

func TestGRPCNghttp2RefusesWhatItCannotAsk(t *testing.T) {
	at := shop.Serve(t, shop.Keeper)
	order := blocks(int64(len(shop.Order)), 4)
	var many strings.Builder
	for i := range 65 {
		fmt.Fprintf(&many, "x%d: 1\n", i)
	}
	for _, c := range []struct {
		exchange contract.Exchange
		options  map[string]any
		kind     contract.ErrorKind
		want     string
	}{
		{order, shop.Asked("headers", "x-key"), contract.SetupFailed, "expected Name: value"},
		{order, shop.Asked("headers", many.String()), contract.SetupFailed, "more than 64"},
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
