package main

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/worker/workertest"
)

// The lengths of replies that vary are those that the server sent; replies that do not
// vary have none.
func TestLengthsOfReplies(t *testing.T) {
	t.Parallel()
	for name, lengths := range map[string][]int{"varying": {0, 3, 120, 4096, 1 << 20}, "one for all": {120}} {
		for _, client := range []string{"go-http1", "fasthttp"} {
			t.Run(client+", "+name, func(t *testing.T) {
				t.Parallel()
				const connections, each = 2, 50
				var n atomic.Int64
				address := workertest.Serve(t, func(conn net.Conn) {
					for r := bufio.NewReader(conn); ; {
						if _, err := http.ReadRequest(r); err != nil {
							return
						}
						length := 120
						if i := n.Add(1) - connections - 1; i >= 0 { // the first are verified
							length = lengths[int(i)%len(lengths)]
						}
						_, _ = io.WriteString(conn, fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", length, strings.Repeat("x", length))) // an end shows in the next request
					}
				})
				b := workertest.Start(t, all...)
				b.Setup(contract.Setup{
					Transport: client, Role: contract.Client, Peers: []string{address}, Options: map[string]any{"verify": "status"},
					Exchange: contract.Exchange{DownBytes: 120}, Load: contract.Load{Connections: connections, Amount: each},
				})
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
