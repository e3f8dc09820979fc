package flow

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

// wired is a client's and a server's flow whose bytes pass through memory.
type wired struct {
	client *Client
	server *Server
	buffer []byte
	load   *load.Load
}

func newWired(t testing.TB, x contract.Exchange, inFlight int) *wired {
	t.Helper()
	setup := contract.Setup{Exchange: x, Load: contract.Load{Connections: 1, InFlight: inFlight}}
	work, err := NewWork(setup)
	if err != nil {
		t.Fatal(err)
	}
	l, err := load.New(setup, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	l.Open(load.Now())
	w := &wired{NewClient(work, l.Slots(0), &Agenda{}), NewServed(work).Begin(), make([]byte, 64<<10), l}
	w.client.Begin()
	w.pass(t, &work.Up, &work.Down) // the verified message
	return w
}

// pass moves the bytes of one message up and its answer down.
func (w *wired) pass(t testing.TB, up, down *Content) {
	w.move(t, w.client, w.server, up.Bytes)
	w.move(t, w.server, w.client, down.Bytes)
}

// move takes n bytes from one flow to another, as a socket would.
func (w *wired) move(t testing.TB, from, to Flow, n int64) {
	for n > 0 {
		piece := from.Outgoing()
		size := to.Limit(min(len(w.buffer), len(piece), int(n)))
		copy(w.buffer, piece[:size])
		from.Written(size)
		if err := to.Received(w.buffer[:size]); err != nil {
			t.Fatal(err)
		}
		n -= int64(size)
	}
}

var costs = map[string]contract.Exchange{
	"echo":   {UpBytes: 100, DownBytes: 100},
	"stream": {Stream: contract.StreamUp, UpBytes: 256 << 10, DownBytes: 1, ChunkBytes: 64 << 10},
}

func TestAnExchangeAllocatesNothing(t *testing.T) {
	for name, x := range costs {
		for _, inFlight := range []int{1, 4} {
			w := newWired(t, x, inFlight)
			before := w.load.Counts().Exchanges
			const runs = 100
			if n := testing.AllocsPerRun(runs, func() { w.pass(t, &w.server.work.Up, &w.server.work.Down) }); n != 0 {
				t.Errorf("%s, %d in flight: %v allocations for an exchange", name, inFlight, n)
			}
			if got := w.load.Counts().Exchanges - before; got < runs {
				t.Errorf("%s, %d in flight: %d exchanges of %d", name, inFlight, got, runs)
			}
		}
	}
}
