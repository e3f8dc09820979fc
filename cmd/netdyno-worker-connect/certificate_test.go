package main

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

func TestEncryptedExchanges(t *testing.T) {
	for _, kind := range kinds {
		loads := map[string]contract.Load{"kept": {Connections: 3}, "fresh": {Connections: 2, Fresh: true}}
		if kind == "go-connect-grpc" {
			loads["multiplexed"] = contract.Load{Connections: 2, InFlight: 8}
		}
		for name, l := range loads {
			t.Run(kind+"/"+name, func(t *testing.T) {
				p := between(kind, exchanges["proto complex"])
				p.Load, p.TLS = l, workertest.Certificate(t)
				p.Amount(t, transports, 16)
			})
		}
	}
}

func TestEncryptionMismatchIsNamed(t *testing.T) {
	secret, other := workertest.Certificate(t), workertest.Certificate(t)
	for _, kind := range kinds {
		for _, c := range []struct {
			server, client *contract.TLS
			kind           contract.ErrorKind
			says           string
		}{
			{secret, nil, contract.Peer, "the server speaks TLS and this client plain text"},
			{nil, secret, contract.Peer, "this client speaks TLS and the server plain text"},
			{secret, other, contract.Peer, "certificate signed by unknown authority"},
		} {
			server, client := between(kind, exchanges["bytes"]), between(kind, exchanges["bytes"])
			server.TLS, client.TLS = c.server, c.client
			server.Misfits(t, transports, client, c.kind, c.says)
		}
	}
}
