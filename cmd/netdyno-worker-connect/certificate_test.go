package main

import (
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

func TestEncryptedExchanges(t *testing.T) {
	server := workertest.Certificate(t)
	client := &contract.TLS{Authorities: server.Authorities}
	for _, kind := range kinds {
		loads := map[string]contract.Load{"kept": {Connections: 3, Amount: 10}, "fresh": {Connections: 2, Amount: 3, Fresh: true}}
		if kind == "go-connect-grpc" {
			loads["multiplexed"] = contract.Load{Connections: 2, InFlight: 8, Amount: 40}
		}
		for name, l := range loads {
			t.Run(kind+"/"+name, func(t *testing.T) {
				pairing{server: kind, client: kind, exchange: exchanges["proto complex"], load: l, serverTLS: server, clientTLS: client}.run(t)
			})
		}
	}
}

func TestEncryptionMismatchIsNamed(t *testing.T) {
	server, other := workertest.Certificate(t), workertest.Certificate(t)
	for _, kind := range kinds {
		for says, p := range map[string]pairing{
			"the server speaks TLS and this client plain text": {serverTLS: server},
			"this client speaks TLS and the server plain text": {clientTLS: &contract.TLS{Authorities: server.Authorities}},
			"certificate signed by unknown authority":          {serverTLS: server, clientTLS: &contract.TLS{Authorities: other.Authorities}},
		} {
			p.server, p.client, p.exchange, p.load = kind, kind, exchanges["bytes"], contract.Load{Connections: 1}
			if e := p.fail(t); !strings.Contains(e.Text, says) {
				t.Errorf("%s: %s: %s, want %q", kind, e.Kind, e.Text, says)
			}
		}
	}
}
