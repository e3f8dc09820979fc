package main

import (
	"fmt"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

var echoes = []string{"go-net", "go-epoll"}

// A trial is between two ends of this worker.
type trial = workertest.Ends

// The counts must agree for every server with every client.
func TestEveryClientAgainstEveryServer(t *testing.T) {
	for _, server := range echoes {
		for _, client := range echoes {
			for _, size := range []int64{1, 100, 3 << 20} {
				for _, inFlight := range []int{1, 4} {
					t.Run(fmt.Sprintf("%s/%s/%d/%d", server, client, size, inFlight), func(t *testing.T) {
						t.Parallel()
						p := trial{Of: server, By: client, Exchange: workertest.Blocks(size, size), Load: contract.Load{Connections: 3, InFlight: inFlight}}
						p.Amount(t, transports, max(4, min(100, 1<<20/size)))
					})
				}
			}
			for name, l := range workertest.Loads() {
				if !l.Fresh { // which neither has
					t.Run(fmt.Sprintf("%s/%s/%s", server, client, name), func(t *testing.T) {
						t.Parallel()
						trial{Of: server, By: client, Exchange: workertest.Blocks(100, 100), Load: l}.Drains(t, transports)
					})
				}
			}
		}
	}
}

func TestListenersOfEveryKindServe(t *testing.T) {
	for _, listener := range []string{"shared", "reuseport"} {
		p := trial{
			Of: "go-epoll", By: "go-net", Exchange: workertest.Blocks(100, 100), Load: contract.Load{Connections: 20},
			Server: map[string]any{"instances": 5.0, "listener": listener},
		}
		p.Amount(t, transports, 10)
	}
}

func TestServersAdmitTheirClients(t *testing.T) {
	for _, transport := range echoes {
		trial{Of: transport, By: transport, Exchange: workertest.Blocks(64, 64)}.AdmitsItsOwn(t, transports)
	}
}
