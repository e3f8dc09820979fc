package listening_test

import (
	"net"
	"os"
	"slices"
	"sync/atomic"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
	"netdyno/test/trials"
)

// A server closes the connection of somebody who is none of the trial's clients, and the trial
// says that they came, and from where.
func TestStrangersAreRefusedAndNamed(t *testing.T) {
	b := benchtest.Built(t)
	var knocked atomic.Bool // in the trial under way, which may be made again
	b.Observe = func(e bench.Event) {
		if e.Tick != nil && knocked.CompareAndSwap(false, true) {
			knock(t)
		}
		if e.Record != nil {
			knocked.Store(false)
		}
	}
	for _, name := range []string{"go-net", "go-epoll", "go-http1", "go-http2", "go-grpc", "netpoll", "fasthttp", "http1-uring", "h2-asio", "threads", "grpcpp"} {
		t.Run(name, func(t *testing.T) {
			if !slices.ContainsFunc(b.Catalog.Offers(), func(o bench.Offer) bool { return o.Name == name }) {
				t.Skip("it is not built here")
			}
			r, judged := trials.First(t, b, append(slices.Clip(work), "transport="+name)...)
			if judged.Status != trial.Valid || !slices.Contains(judged.Flags, trial.Strangers) {
				t.Errorf("the trial is %s with flags %v: %s", judged.Status, judged.Flags, judged.Reason)
			}
			want := contract.Strangers{Connections: 1, First: stranger}
			if got := r.Workers[0].Result.Counts.Strangers; got == nil || *got != want {
				t.Errorf("the server counted %+v, want %+v", got, want)
			}
		})
	}
}

const stranger = "127.0.0.99"

// knock connects once to each port that the trial's processes listen on, and sees each of the
// connections closed.
func knock(t *testing.T) {
	found := map[socket]bool{}
	for _, pid := range descendants(os.Getpid()) {
		look(pid, map[string]bool{}, found)
	}
	ports := map[string]bool{} // of some servers several sockets share one
	for s := range found {
		ports[s.At.String()] = true
	}
	from := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(stranger)}}
	for at := range ports {
		c, err := from.DialContext(t.Context(), "tcp", at)
		if err != nil {
			t.Errorf("connect to %s: %v", at, err)
			continue
		}
		if n, err := c.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s answers a stranger by %d bytes", at, n)
		}
		_ = c.Close()
	}
}
