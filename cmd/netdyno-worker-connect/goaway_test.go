package main

import (
	"fmt"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/keepalive"

	"netdyno/internal/contract"
	"netdyno/internal/work/codec"
	"netdyno/internal/work/netdynov1"
	"netdyno/internal/work/worker/workertest"
)

// grpc-go's own server ends every connection at an age (GOAWAY). The client goes on with
// another, and no call is lost or made twice.
func TestAServerThatLeavesConnections(t *testing.T) {
	for _, inFlight := range []int{1, 4} {
		t.Run(fmt.Sprintf("%d in flight", inFlight), func(t *testing.T) {
			setup := contract.Setup{
				Transport: "go-connect-grpc", Role: contract.Client, Seed: 3, Exchange: contract.Exchange{UpBytes: 10, DownBytes: 50},
				Load: contract.Load{Connections: 2, InFlight: inFlight, Amount: 300},
			}
			content, err := codec.New(setup, codec.Standard())
			if err != nil {
				t.Fatal(err)
			}
			_, down := content.Contents()
			var taken atomic.Int64
			server := grpc.NewServer(grpc.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 400 * time.Millisecond}),
				grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
					taken.Add(1)
					if err := stream.RecvMsg(&netdynov1.Block{}); err != nil {
						return err
					}
					time.Sleep(time.Duration(inFlight) * 4 * time.Millisecond) // three ages in all
					return stream.SendMsg(&netdynov1.Block{Content: down})
				}))
			t.Cleanup(server.Stop)
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			go func() { _ = server.Serve(l) }()
			setup.Peers = []string{l.Addr().String()}
			client := workertest.Start(t, transports...)
			client.Setup(setup)
			verified := taken.Load()
			client.Start()
			r := client.Expect("result").Result
			if r.Counts.Exchanges != 600 || len(r.Counts.Errors) > 0 || r.Counts.Redialled == 0 || taken.Load()-verified != 600 {
				t.Errorf("counts %+v, the server took %d; want 600 exchanges, and connections made again", r.Counts, taken.Load()-verified)
			}
		})
	}
}
