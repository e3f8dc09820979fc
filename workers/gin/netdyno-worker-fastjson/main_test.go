package main

import (
	"slices"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/worker/workertest"
)

// Every transport of this program carries sonic's messages, and names no other
// codec: the bench would take this program for codec bytes too.
func TestEveryTransportCarriesTheOneCodec(t *testing.T) {
	x := contract.Exchange{Codec: "json-fast", Message: &contract.Structure{
		Name: "complex",
		Up:   contract.Content{Type: "netdyno.v1.Text", JSON: `{"text":"hello"}`},
		Down: contract.Content{Type: "netdyno.v1.Reply", JSON: workertest.Reply("one", "<two>", "three")},
	}}
	for _, of := range transports {
		for _, with := range transports {
			server, client := of.Describe(), with.Describe()
			if server.Wire != client.Wire {
				continue
			}
			t.Run(server.Name+"/"+client.Name, func(t *testing.T) {
				if !slices.Equal(server.Codecs, []string{"json-fast"}) {
					t.Errorf("%s names codecs %v, want json-fast alone", server.Name, server.Codecs)
				}
				s, c := workertest.Start(t, transports...), workertest.Start(t, transports...)
				ready := s.Setup(contract.Setup{Transport: server.Name, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: x})
				ready = c.Setup(contract.Setup{
					Transport: client.Name, Role: contract.Client, Peers: ready.Addresses, Exchange: x,
					Load: contract.Load{Connections: 2, Amount: 20},
				})
				c.Start()
				r := c.Expect("result").Result.Counts
				if r.Exchanges != 40 || r.ReceivedBytes != 40*ready.DownBytes || len(r.Errors) > 0 {
					t.Errorf("counts %+v, want 40 exchanges of %d bytes down", r, ready.DownBytes)
				}
			})
		}
	}
}
