package foreign_test

import (
	"net"
	"net/http"
	"sync"
	"testing"

	"netdyno/internal/contract"
	"netdyno/test/loopback"
)

// Connections take the addresses of a server in turn, also in C++, and come from the address
// that was given. Each client tells the addresses apart.
func TestConnectionsTakeAddressesInTurn(t *testing.T) {
	for _, client := range []string{"go-http1", "fasthttp", "http1-uring", "http1-asio"} {
		t.Run(client, func(t *testing.T) {
			need(t, nil, "address", client)
			var mu sync.Mutex
			asked, from := map[string]int{}, map[string]bool{} // by the server's address, and the clients' hosts
			handle := func(_ http.ResponseWriter, r *http.Request) {
				at, _ := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
				host, _, _ := net.SplitHostPort(r.RemoteAddr)
				mu.Lock()
				defer mu.Unlock()
				asked[at.String()]++
				from[host] = true
			}
			one, two := loopback.HTTP(t, handle), loopback.HTTP(t, handle)
			r := trial(t, "client="+client, "server=address", "opt.server.wire=http/1.1", "opt.server.address="+one.Addr+"+"+two.Addr,
				"opt.client.verify=status", "request=0B", "response=0B", "amount=50", "client.source=127.0.0.9")
			completed(t, r, 100)
			if asked[one.Addr] != 51 || asked[two.Addr] != 51 || len(from) != 1 || !from["127.0.0.9"] {
				t.Errorf("asked %v, from %v", asked, from)
			}
			for _, w := range r.Workers {
				if w.Role != contract.Client {
					continue
				}
				if p := w.Result.Paths; len(p) != 2 || p[0].Name != one.Addr || p[0].Exchanges != 50 || p[1].Exchanges != 50 {
					t.Errorf("the client tells apart %+v", p)
				}
			}
			for _, w := range r.Workers {
				if w.Role == contract.Server && (w.Close.Meter.Attached == nil || len(w.Close.Meter.Attached.PIDs) != 1) {
					t.Errorf("the server's account is that of %+v", w.Close.Meter.Attached)
				}
			}
		})
	}
}
