package main

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

func TestDrawnSizes(t *testing.T) {
	_, echo := workertest.Drawn()
	workertest.Draws(t, transports, contract.Setup{Transport: "netpoll", Exchange: echo}, contract.Setup{Transport: "netpoll"}, 4)
}
