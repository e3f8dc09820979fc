package main

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

func TestDrawnSizes(t *testing.T) {
	_, echo := workertest.Drawn()
	encryption := workertest.Certificate(t)
	trust := &contract.TLS{Authorities: encryption.Authorities}
	workertest.Draws(t, transports, contract.Setup{Transport: "go-http3", TLS: encryption}, contract.Setup{Transport: "go-http3", TLS: trust}, 4)
	workertest.Draws(t, transports, contract.Setup{Transport: "go-quic", TLS: encryption, Exchange: echo}, contract.Setup{Transport: "go-quic", TLS: trust}, 2)
}
