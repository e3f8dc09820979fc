package main

import (
	"fmt"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/transport/gogrpc"
	"netdyno/internal/work/worker/workertest"
)

// Wire grpc:netdyno.v1 has two implementations; each end of one meets the
// other end of the other.
func TestGRPCOfTwoLibraries(t *testing.T) {
	google := gogrpc.Transport{Codecs: codec.Standard()}
	all := append([]contract.Exchange{
		{UpBytes: 500, DownBytes: 200_000, Stream: contract.StreamUp, ChunkBytes: 100},
		{UpBytes: 500, DownBytes: 200_000, Stream: contract.StreamDown, ChunkBytes: 30_000},
		{UpBytes: 300_000, DownBytes: 200_000, Stream: contract.StreamBoth},
	}, exchanges["bytes"], exchanges["empty up"], exchanges["empty down"])
	for _, name := range []string{"proto", "json"} {
		own := message(name, "mine")
		streamed := message(name, "complex")
		streamed.Stream, streamed.ChunkBytes = contract.StreamBoth, 5
		all = append(all, message(name, "simple"), message(name, "complex"), own, streamed)
	}
	pairs := []struct {
		server, client string
		options        map[string]any
	}{
		{"go-grpc", "go-connect-grpc", nil}, {"go-connect-grpc", "go-grpc", nil},
		{"go-connect-grpc", "go-grpc", map[string]any{"mode": "stream"}},
	}
	for _, p := range pairs {
		for i, x := range all {
			if p.options != nil && (x.Stream != "" || x.Message != nil && x.Message.Name == "mine") {
				continue // its chunks are streams already; our own messages have no stream
			}
			t.Run(fmt.Sprintf("%s/%s/%v/%d", p.server, p.client, p.options, i), func(t *testing.T) {
				server, client := workertest.Start(t, append(transports, google)...), workertest.Start(t, append(transports, google)...)
				listening := server.Setup(contract.Setup{Transport: p.server, Role: contract.Server, Listen: "127.0.0.1:0", Exchange: x})
				ready := client.Setup(contract.Setup{
					Transport: p.client, Role: contract.Client, Peers: listening.Addresses, Exchange: x, Options: p.options,
					Load: contract.Load{Connections: 2, InFlight: 2, Amount: 10},
				})
				client.Start()
				r := client.Expect("result").Result
				down := x.DownBytes
				if x.Message != nil {
					down = ready.DownBytes
				}
				if r.Counts.Exchanges != 20 || r.Counts.ReceivedBytes != 20*down || len(r.Counts.Errors) > 0 {
					t.Errorf("counts %+v, want 20 exchanges of %d bytes down", r.Counts, down)
				}
				if got := server.Settled(contract.Counts{}, 22); got.Exchanges < 22 || got.SentBytes != got.Exchanges*down {
					t.Errorf("server counts %+v, want 20 exchanges and 2 verified ones of %d bytes down", got, down)
				}
			})
		}
	}
}
