package main

import (
	"fmt"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

func TestDrawnSizes(t *testing.T) {
	_, echo := workertest.Drawn()
	for _, server := range echoes {
		for _, client := range echoes {
			for _, inFlight := range []int{1, 4} {
				t.Run(fmt.Sprintf("%s/%s/%d", server, client, inFlight), func(t *testing.T) {
					workertest.Draws(t, transports, contract.Setup{Transport: server, Exchange: echo}, contract.Setup{Transport: client}, inFlight)
				})
			}
		}
	}
}
