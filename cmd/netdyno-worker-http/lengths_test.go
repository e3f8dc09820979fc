package main

import (
	"net/http"
	"slices"
	"sync/atomic"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/worker/workertest"
	"netdyno/test/loopback"
)

// The lengths of replies that vary are those that the server sent; replies that do not
// vary have none.
func TestLengthsOfReplies(t *testing.T) {
	t.Parallel()
	for name, lengths := range map[string][]int{"varying": {0, 3, 120, 4096, 1 << 20}, "one for all": {120}} {
		for _, client := range []string{"go-http1", "fasthttp", "go-http2"} {
			t.Run(client+", "+name, func(t *testing.T) {
				t.Parallel()
				const connections, each = 2, 50
				var n atomic.Int64
				n.Store(-1 << 32) // what is asked before the load is as long as expected
				server := loopback.HTTP(t, func(w http.ResponseWriter, _ *http.Request) {
					length := 120
					if i := n.Add(1) - 1; i >= 0 {
						length = lengths[int(i)%len(lengths)]
					}
					_, _ = w.Write(make([]byte, length)) // the client judges what comes
				})
				b := workertest.Start(t, all...)
				b.Setup(contract.Setup{
					Transport: client, Role: contract.Client, Peers: []string{server.Addr}, Options: map[string]any{"verify": "status"},
					Exchange: contract.Exchange{DownBytes: 120}, Load: contract.Load{Connections: connections, Amount: each},
				})
				n.Store(0)
				b.Start()
				r := b.Expect("result").Result
				want := hist.New()
				for _, length := range lengths {
					want.Record(int64(length), int64(connections*each/len(lengths)))
				}
				got, err := hist.Decode(r.Lengths)
				if err != nil || (r.Lengths != "") != (len(lengths) > 1) || len(lengths) > 1 && !slices.Equal(got.Steps(), want.Steps()) {
					t.Errorf("lengths %v, %v; want %v", got.Steps(), err, want.Steps())
				}
			})
		}
	}
}
