package httpwire

import (
	"io"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/load"
)

// An event came when its bytes were read from the connection, however long it took the library
// to hand them over.
func TestEventsComeAsTheirBytesAreRead(t *testing.T) {
	exchange := contract.Exchange{DownBytes: 100, Stream: contract.StreamDown, ChunkBytes: 50}
	options := map[string]any{"events": "sized", "most_events": int64(0), "events_for": int64(0)}
	setup := contract.Setup{Events: true, Options: options, Exchange: exchange, Load: contract.Load{Connections: 1}}
	l, err := load.New(setup, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	l.Open(load.Now())
	slot := &l.Slots(0)[0]
	due, _ := slot.Next(load.Now())
	c := &Client{Setup: setup, oneAtATime: true, arrivals: make([]Arrival, 1)}
	f := c.follower(0)
	f.slot = slot
	f.arrived.at.Store(due + 5)
	body := f.Begin(strings.NewReader(strings.Repeat("x", 100)), nil)
	piece := make([]byte, 50)
	for _, at := range []int64{due + 5, due + 12} {
		f.arrived.at.Store(at)
		if _, err := io.ReadFull(body, piece); err != nil {
			t.Fatal(err)
		}
	}
	slot.Done(due, load.Now(), 100)
	result, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	for name, of := range map[string]struct {
		times string
		want  int64
	}{"first": {result.Events.First, 5}, "gap": {result.Events.Gaps, 7}} {
		times, err := hist.Decode(of.times)
		if err != nil || times.Count() != 1 || times.MaxNs() != of.want {
			t.Errorf("%s: %d times, at most %d ns; expected 1 of %d ns (%v)", name, times.Count(), times.MaxNs(), of.want, err)
		}
	}
}
