package native_test

import (
	"crypto/tls"
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
	for _, c := range append(shop.Refusals(),
		shop.Refusal{Exchange: order, Options: shop.Asked("headers", "x!y: 1"), Kind: contract.SetupFailed, Want: "expected Name: value"},
		shop.Refusal{Exchange: streamed(contract.StreamBoth, 7, 4, 2), Options: shop.Asked(), Kind: contract.Unsupported, Want: "exchange.stream too"},
		shop.Refusal{Exchange: blocks(int64(len(shop.Order)), 5), Options: shop.Asked(), Kind: contract.Invalid, Want: "4 bytes, expected 5"},
		shop.Refusal{Exchange: order, Options: shop.Asked("headers", ""), Kind: contract.Invalid, Want: "grpc-status 3"},
	) {
		client := start(t, ours)
		client.send(contract.Message{Setup: &contract.Setup{
			Transport: ours, Role: contract.Client, Peers: []string{at}, Exchange: c.Exchange, Load: contract.Load{Connections: 1}, Options: c.Options,
		}})
		if text := client.fatal(c.Kind); !strings.Contains(text, c.Want) {
			t.Errorf("%v: the client says %q, want %q", c.Options, text, c.Want)
		}
	}
}
