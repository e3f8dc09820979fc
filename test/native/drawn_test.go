package native_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/load"
	"netdyno/internal/work/worker/workertest"
)

// sizesThatVary are exchanges whose sizes are drawn each way, and those of an echo.
func sizesThatVary() (both, echo contract.Exchange) {
	up := contract.Table{{1 << 30, 0, 0}, {3 << 30, 1, 4096}, {contract.TableEnd, 60_000, 200_000}}
	down := contract.Table{{2 << 30, 0, 300}, {contract.TableEnd, 100_000, 100_000}}
	some := contract.Table{{3 << 30, 1, 4096}, {contract.TableEnd, 60_000, 400_000}}
	both = contract.Exchange{UpBytes: up.Most(), DownBytes: down.Most(), UpSizes: up, DownSizes: down}
	return both, contract.Exchange{UpBytes: some.Most(), DownBytes: some.Most(), UpSizes: some, DownSizes: some}
}

// Exchanges of drawn sizes on every wire, in C++ and between C++ and Go: both ends move what
// the seed says, to the byte.
func TestDrawnSizes(t *testing.T) {
	both, echo := sizesThatVary()
	up := both
	up.DownSizes, up.DownBytes = nil, 300
	down := both
	down.UpSizes, down.UpBytes = nil, 0
	raw := map[string]any{"codec": "raw"}
	for _, c := range []struct {
		name         string
		ours, theirs []string
		exchange     contract.Exchange
		options      map[string]any
		encrypted    *contract.TLS
		inFlight     int
	}{
		{"echo", []string{"uring", "asio", "libevent", "threads"}, []string{"go-net"}, echo, nil, nil, 1},
		{"pipelined echo", []string{"uring", "asio", "libevent", "threads"}, []string{"go-net"}, echo, nil, nil, 4},
		{"http/1.1", nativeHTTP, []string{"go-http1", "fasthttp"}, both, nil, nil, 1},
		{"http/1.1, down", nativeHTTP, []string{"go-http1"}, down, nil, nil, 1},
		{"http/1.1, encrypted", nativeHTTP, []string{"go-http1"}, both, nil, workertest.Certificate(t), 1},
		{"http/2", []string{"h2-uring", "h2-asio"}, []string{"go-http2"}, both, nil, nil, 4},
		{"http/2, encrypted", []string{"h2-uring", "h2-asio"}, []string{"go-http2"}, both, nil, workertest.Certificate(t), 4},
		{"grpc", []string{"grpc-nghttp2", "grpcpp"}, []string{"go-grpc"}, both, nil, nil, 4},
		{"grpc, raw", []string{"grpc-nghttp2", "grpcpp"}, []string{"go-grpc"}, both, raw, nil, 4},
		{"grpc, streams", []string{"grpc-nghttp2", "grpcpp"}, []string{"go-grpc"}, up, map[string]any{"mode": "stream"}, nil, 4},
	} {
		for i, ours := range c.ours {
			ends := [][2]string{{ours, ours}, {ours, c.ours[(i+1)%len(c.ours)]}}
			for _, theirs := range c.theirs {
				ends = append(ends, [2]string{ours, theirs}, [2]string{theirs, ours})
			}
			for _, e := range ends {
				t.Run(fmt.Sprintf("%s/%s to %s", c.name, e[1], e[0]), func(t *testing.T) {
					t.Parallel()
					trial{server: e[0], client: e[1], exchange: c.exchange, options: c.options, encrypted: c.encrypted,
						load: contract.Load{Connections: 3, InFlight: c.inFlight, Amount: 40}}.draws(t)
				})
			}
		}
	}
}

// draws runs the amount and checks that both ends moved what the seed says.
func (p trial) draws(t *testing.T) {
	t.Helper()
	server, client := p.connect(t)
	_, setup := p.setups()
	before := server.mark(2, false).Counts // an exchange is counted before it is answered
	if echoes(p.exchange) {                // but of an echo what was sent
		before.ReceivedBytes, before.SentBytes = drawn(t, setup, int64(p.load.Connections))
	}
	client.mark(1, true)
	client.send(contract.Message{Start: &contract.Start{}})
	r := client.expect("result").Result
	n := p.load.Amount * int64(p.load.Connections)
	up, down := drawn(t, setup, n)
	if r.Counts.Exchanges != n || len(r.Counts.Errors) > 0 || r.Counts.SentBytes != up || r.Counts.ReceivedBytes != down {
		t.Errorf("the client counts %+v, want %d exchanges, %d bytes up and %d down; reasons %+v", r.Counts, n, up, down, r.Reasons)
	}
	told := n
	if len(p.exchange.DownSizes) == 0 {
		told = 0
	}
	if lengths, err := hist.Decode(r.Lengths); err != nil || lengths.Count() != told {
		t.Errorf("%d lengths told, want %d (%v)", lengths.Count(), told, err)
	}
	got := contract.Counts{}
	for deadline := time.Now().Add(timeout); time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		got = server.mark(2, false).Counts
		got.ReceivedBytes -= before.ReceivedBytes
		got.SentBytes -= before.SentBytes
		if got.ReceivedBytes >= up && got.SentBytes >= down {
			break
		}
	}
	if got.ReceivedBytes != up || got.SentBytes != down {
		t.Errorf("the server received %d bytes and sent %d, want %d and %d", got.ReceivedBytes, got.SentBytes, up, down)
	}
}

// echoes reports whether replies are as long as their requests.
func echoes(x contract.Exchange) bool { return slices.Equal(x.UpSizes, x.DownSizes) }

// drawn returns the payload bytes of exchanges 0 to n-1. An echo is as long as its request.
func drawn(t *testing.T, setup contract.Setup, n int64) (up, down int64) {
	t.Helper()
	draws, err := load.DrawsOf(setup)
	if err != nil {
		t.Fatal(err)
	}
	echo := echoes(setup.Exchange)
	for i := range uint64(n) {
		x := draws.Of(i)
		up += x.Up
		if echo {
			x.Down = x.Up
		}
		down += x.Down
	}
	return up, down
}

// Drawn arrivals and a rate that changes: as many exchanges as fall due are made.
func TestDrawnArrivals(t *testing.T) {
	gaps := contract.Table{{3 << 30, 0, 1 << 19}, {contract.TableEnd, 1 << 20, 5 << 20}}
	for _, transport := range []string{"uring", "threads", "http1-asio", "h2-uring", "grpc-nghttp2", "grpcpp", "ucx"} {
		for name, l := range map[string]contract.Load{
			"drawn":  {Rate: 4000, Arrival: contract.Drawn, Gaps: gaps},
			"bursts": {Rate: 4000, Phases: []contract.Phase{{1e7, 40_000, 40_000}, {9e7, 0, 0}}, Repeat: true},
			"a ramp": {Rate: 4000, Arrival: contract.Poisson, Phases: []contract.Phase{{2e8, 0, 8000}}},
		} {
			t.Run(transport+"/"+name, func(t *testing.T) {
				l.Connections, l.Amount = 4, 100
				trial{server: transport, client: transport, exchange: blocks(100, 100), load: l}.loaded(t)
			})
		}
	}
}
