package native_test

import (
	"fmt"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// Every server in C++ works for each exchange as long as it is told to: on a CPU one after the
// other, asleep beside each other, and hardly any CPU.
func TestServersWork(t *testing.T) {
	const ns, amount = 4_000_000, 12
	for _, c := range []struct {
		client  string
		servers []string
	}{
		{"go-net", []string{"uring", "asio", "libevent", "threads"}},
		{"go-http1", nativeHTTP},
		{"go-http2", nativeH2},
		{"go-grpc", []string{"grpc-nghttp2", "grpcpp"}},
	} {
		for _, server := range c.servers {
			for _, by := range []contract.WorkBy{contract.WorkCPU, contract.WorkSleep} {
				t.Run(fmt.Sprintf("%s/%s", server, by), func(t *testing.T) {
					t.Parallel()
					p := trial{server: server, client: c.client, exchange: blocks(100, 100), load: contract.Load{Connections: 4, Amount: amount}}
					s, setup := p.setups()
					if server != "threads" {
						s.Threads = 1
					}
					s.Work = &contract.Work{By: by, Ns: contract.Table{{contract.TableEnd, ns, ns}}}
					end, other := start(t, server), start(t, c.client)
					setup.Peers = end.setup(s).Addresses
					before := time.Now()
					other.setup(setup)
					other.mark(1, true)
					cpu := end.mark(3, false).CPUNs
					other.send(contract.Message{Start: &contract.Start{}})
					r := other.expect("result").Result
					took := time.Since(before)
					cpu = end.mark(4, false).CPUNs - cpu
					times, err := hist.Decode(r.Service)
					if err != nil || r.Counts.Exchanges != 4*amount || len(r.Counts.Errors) > 0 {
						t.Fatalf("%d exchanges, %v, %v; reasons %+v", r.Counts.Exchanges, r.Counts.Errors, err, r.Reasons)
					}
					if least := times.Percentiles([]float64{0.5})[0]; least < ns {
						t.Errorf("half of the exchanges take %d ns or less, want at least %d", least, ns)
					}
					all := int64(4 * amount * ns)
					if by == contract.WorkCPU && cpu < all {
						t.Errorf("the server used %d ns of CPU, want at least %d", cpu, all)
					}
					if by == contract.WorkSleep && cpu > all/2 {
						t.Errorf("the server used %d ns of CPU while it slept for %d", cpu, all)
					}
					if by == contract.WorkCPU && server != "threads" && int64(took) < all {
						t.Errorf("one loop worked for %d ns in %d", all, took)
					}
				})
			}
		}
	}
}
