package main

import (
	"net"
	"slices"
	"sync/atomic"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"
	"google.golang.org/protobuf/types/known/wrapperspb"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/worker/workertest"
)

// The lengths of another's replies are those of their messages.
func TestLengthsOfReplies(t *testing.T) {
	const connections, each = 2, 50
	replies := make([]*wrapperspb.BytesValue, 5)
	want := hist.New()
	for i, length := range []int{0, 3, 100, 5000, 70_000} {
		replies[i] = wrapperspb.Bytes(make([]byte, length))
		want.Record(int64(proto.Size(replies[i])), int64(connections*each/len(replies)))
	}
	var n atomic.Int64
	server := grpc.NewServer(grpc.UnknownServiceHandler(func(_ any, stream grpc.ServerStream) error {
		if err := stream.RecvMsg(&emptypb.Empty{}); err != nil {
			return err
		}
		return stream.SendMsg(replies[int(n.Add(1)-1)%len(replies)])
	}))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = server.Serve(l) }()
	t.Cleanup(server.Stop)
	b := workertest.Start(t, transports...)
	b.Setup(contract.Setup{
		Transport: "go-grpc", Role: contract.Client, Peers: []string{l.Addr().String()}, Exchange: contract.Exchange{DownBytes: 5},
		Options: map[string]any{"verify": "status", "codec": "raw", "method": "/shop.v1.Shop/Buy"}, Load: contract.Load{Connections: connections, Amount: each},
	})
	n.Store(0)
	b.Start()
	r := b.Expect("result").Result
	if got, err := hist.Decode(r.Lengths); err != nil || !slices.Equal(got.Steps(), want.Steps()) {
		t.Errorf("lengths %v, %v; want %v", got.Steps(), err, want.Steps())
	}
}
