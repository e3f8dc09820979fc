package main

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

func TestDrawnSizes(t *testing.T) {
	for _, tr := range transports {
		inFlight, name := 1, tr.Describe().Name
		if name == "go-connect-grpc" {
			inFlight = 4
		}
		workertest.Draws(t, transports, contract.Setup{Transport: name}, contract.Setup{Transport: name}, inFlight)
	}
}
