package main

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// Sizes are drawn alike with every server and every client, encrypted too.
func TestDrawnSizes(t *testing.T) {
	for _, p := range pairs {
		for _, encryption := range []*contract.TLS{nil, workertest.Certificate(t)} {
			inFlight := 1
			if p[0] == "go-http2" {
				inFlight = 4
			}
			for _, read := range []string{"all", "pooled"} {
				options := map[string]any{"read": read}
				if p[1] == "fasthttp" {
					options = nil
				}
				workertest.Draws(t, all, contract.Setup{Transport: p[0], TLS: encryption}, contract.Setup{Transport: p[1], TLS: encryption, Options: options}, inFlight)
			}
		}
	}
}
