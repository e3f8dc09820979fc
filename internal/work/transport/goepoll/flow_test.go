package goepoll

import (
	"errors"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
	"netdyno/internal/work/wire"
)

func newFlow(t *testing.T, x contract.Exchange, slots int) *flow {
	t.Helper()
	work, err := wire.NewWork(contract.Setup{Exchange: x})
	if err != nil {
		t.Fatal(err)
	}
	return &flow{work: work, flights: make([]flight, slots)}
}

// write moves n bytes at most, in pieces as the flow gives them.
func write(f *flow, n int, now int64) (moved int) {
	for n > 0 && f.unsent() {
		piece := min(n, len(f.outgoing(now)))
		f.written(piece)
		n, moved = n-piece, moved+piece
	}
	return moved
}

func TestFlowSendsInOrderAndStampsTheFirstByte(t *testing.T) {
	f := newFlow(t, contract.Exchange{Stream: contract.StreamUp, UpBytes: 10, DownBytes: 2, ChunkBytes: 4}, 2)
	slots := make([]load.Slot, 2)
	if f.unsent() {
		t.Error("bytes wait before anything was queued")
	}
	f.queue(&slots[0])
	f.queue(&slots[1])
	f.outgoing(100) // the kernel took nothing: it is not sent yet
	f.written(0)
	if n := write(f, 13, 200); n != 13 {
		t.Fatalf("%d bytes of 13", n)
	}
	if n := write(f, 100, 300); n != 7 || f.unsent() {
		t.Fatalf("%d bytes of the 7 that were left", n)
	}
	if err := f.received(3); err != nil {
		t.Fatal(err)
	}
	first, ok := f.completed()
	if !ok || first.slot != &slots[0] || first.sent != 200 {
		t.Errorf("completed %+v, want the first slot's, sent at 200", first)
	}
	if _, ok := f.completed(); ok {
		t.Error("half an answer completes an exchange")
	}
	if err := f.received(1); err != nil {
		t.Fatal(err)
	}
	if second, ok := f.completed(); !ok || second.slot != &slots[1] || second.sent != 200 {
		t.Errorf("completed %+v, want the second slot's, whose first byte went at 200", second)
	}
}

func TestFlowSeesSurplusAtOnce(t *testing.T) {
	for _, c := range []struct {
		stream      contract.Stream
		sent, fits  int
		description string
	}{
		{"", 4, 4, "an echo of what has gone up so far"},
		{contract.StreamUp, 9, 0, "nothing before the last byte"},
		{contract.StreamUp, 10, 10, "the answer"},
		{contract.StreamBoth, 1, 9, "all but the last byte"},
		{contract.StreamDown, 15, 10, "one answer for one and a half messages"},
	} {
		for surplus := range 2 {
			f := newFlow(t, contract.Exchange{Stream: c.stream, UpBytes: 10, DownBytes: 10}, 2)
			var slots [2]load.Slot
			f.queue(&slots[0])
			f.queue(&slots[1])
			write(f, c.sent, 0)
			if err := f.received(c.fits + surplus); errors.Is(err, errSurplus) != (surplus == 1) {
				t.Errorf("stream %q, %d sent, %d came, %s: %v", c.stream, c.sent, c.fits+surplus, c.description, err)
			}
		}
	}
}

func TestFlowAbandonsWhatIsInFlight(t *testing.T) {
	f := newFlow(t, contract.Exchange{UpBytes: 10, DownBytes: 10}, 3)
	slots := make([]load.Slot, 3)
	for i := range slots {
		f.queue(&slots[i])
	}
	write(f, 25, 0)
	if err := f.received(10); err != nil {
		t.Fatal(err)
	}
	if _, ok := f.completed(); !ok {
		t.Fatal("an answer completes no exchange")
	}
	for i := 1; i < 3; i++ {
		if lost, ok := f.abandoned(); !ok || lost.slot != &slots[i] {
			t.Errorf("abandoned %+v, want slot %d's", lost, i)
		}
	}
	if _, ok := f.abandoned(); ok {
		t.Error("more is abandoned than was in flight")
	}
}
