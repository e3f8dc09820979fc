package load

import (
	"math"
	"math/rand/v2"
	"sync"
	"testing"

	"netdyno/internal/contract"
)

func TestArrivalVectors(t *testing.T) {
	var vectors []struct {
		Name     string             `json:"name"`
		FromNs   int64              `json:"from_ns"`
		UntilNs  int64              `json:"until_ns"`
		Sent     []int64            `json:"sent"`
		Arrivals *contract.Arrivals `json:"arrivals"`
	}
	if err := readVectors("arrivals.json", &vectors); err != nil || len(vectors) < 7 {
		t.Fatalf("%d vectors, %v; expected at least 7", len(vectors), err)
	}
	for _, v := range vectors {
		got := gapsOf(v.Sent, v.FromNs, v.UntilNs)
		if (got == nil) != (v.Arrivals == nil) {
			t.Errorf("%s: %+v, want %+v", v.Name, got, v.Arrivals)
			continue
		}
		if got == nil {
			continue
		}
		if math.Abs(got.SumSquaresNs2-v.Arrivals.SumSquaresNs2) > 1e-12*v.Arrivals.SumSquaresNs2 {
			t.Errorf("%s: squares %v, want %v", v.Name, got.SumSquaresNs2, v.Arrivals.SumSquaresNs2)
		}
		got.SumSquaresNs2 = v.Arrivals.SumSquaresNs2
		if *got != *v.Arrivals {
			t.Errorf("%s: %+v, want %+v", v.Name, *got, *v.Arrivals)
		}
	}
}

// opened returns a load that opens its window at 0 on the clock that the
// test's sends are of.
func opened(t *testing.T, plan contract.Load) *Load {
	t.Helper()
	l := newLoad(t, plan)
	l.startNs.Store(-1e15) // everything the schedules hold is due
	l.Open(0)
	return l
}

// complete sends an exchange at one instant and completes it at another.
func complete(t *testing.T, s *Slot, sent, done int64) {
	t.Helper()
	if _, more := s.Next(sent); !more {
		t.Fatal("no more exchanges in a running open loop")
	}
	s.Done(sent, done, 30)
}

func resultOf(t *testing.T, l *Load, closing int64) contract.Result {
	t.Helper()
	l.End(closing)
	for i := range l.slots {
		l.slots[i].left = 0 // no backlog: only what was sent is asked for here
	}
	r, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The gaps are those of the whole client: neither a slot's nor a shard's own.
func TestArrivalsAreTheClientsOverAllItsSlots(t *testing.T) {
	l := opened(t, contract.Load{Connections: 3, InFlight: 2, Rate: 1000})
	for k := range int64(60) {
		s := &l.slots[k%6]
		complete(t, s, 1e6*(k+1), 1e6*(k+1)+7e6*(k%5)) // answers overtake each other
	}
	a := resultOf(t, l, 1e9).Arrivals
	if want := (contract.Arrivals{Gaps: 59, SumNs: 59e6, SumSquaresNs2: 59e12, StretchNs: 1e9}); a == nil || *a != want {
		t.Errorf("arrivals %+v, want %+v", a, want)
	}
}

// What was sent before the opening or after the close is not of the window;
// what was sent in it and came back while draining is.
func TestArrivalsEndAtTheWindowsEdges(t *testing.T) {
	l := opened(t, contract.Load{Connections: 2, Rate: 1000})
	s, late := &l.slots[0], &l.slots[1]
	complete(t, s, -5, 10)
	complete(t, s, 0, 10)
	complete(t, s, 40, 50)
	if _, more := late.Next(60); !more {
		t.Fatal("nothing due")
	}
	l.End(100)
	late.Done(60, 500, 30)
	complete(t, s, 100, 200) // backlog, sent after the close
	a := resultOf(t, l, 100).Arrivals
	if want := (contract.Arrivals{Gaps: 2, SumNs: 60, SumSquaresNs2: 40*40 + 20*20, StretchNs: 100}); a == nil || *a != want {
		t.Errorf("arrivals %+v, want %+v", a, want)
	}
}

// A shard without room ends the stretch for the client where its first refused
// send lies: before that every shard kept everything.
func TestArrivalsEndWhereALaneHasNoRoom(t *testing.T) {
	l := opened(t, contract.Load{Connections: 2, Rate: 0.001})
	room := int64(len(l.window[0].times.sends.at))
	full, other := &l.slots[0], &l.slots[1]
	for k := range room - 1 {
		complete(t, full, 10*k, 10*k)
	}
	complete(t, full, 10*(room+2), 10*room) // takes the last place…
	complete(t, full, 10*(room+1), 10*room) // …and these find none
	complete(t, full, 10*room, 10*room)
	complete(t, full, 10*(room+3), 10*room)
	complete(t, other, 10*(room+1)+5, 10*room)
	a := resultOf(t, l, 1e9).Arrivals
	if want := (contract.Arrivals{Gaps: room - 2, SumNs: 10 * (room - 2), SumSquaresNs2: 100 * float64(room-2), StretchNs: 10 * room}); a == nil || *a != want {
		t.Errorf("arrivals %+v, want %+v", a, want)
	}
}

func TestArrivalsOfAStretchAreBounded(t *testing.T) {
	for _, rate := range []float64{0.001, 200, 1e5, 1e9} {
		l := opened(t, contract.Load{Connections: 5, InFlight: 3, Rate: rate})
		bytes := 0
		for _, counters := range l.window {
			bytes += 8 * len(counters.times.sends.at)
		}
		if most := 8 * (stretchSends*sendsHeadroom + 2*sendsLeast); float64(bytes) > most {
			t.Errorf("rate %v keeps %d bytes of sends, want at most %.0f", rate, bytes, most)
		}
		stretch := l.window[0].times.sends.until
		if stretch > int64(stretchMost) || float64(stretch)/1e9*rate > stretchSends {
			t.Errorf("rate %v keeps sends for %d ns", rate, stretch)
		}
	}
}

func TestAClosedLoopHasNoArrivals(t *testing.T) {
	for _, plan := range []contract.Load{{Connections: 1}, {Connections: 1, ThinkNs: 5}} {
		l := newLoad(t, plan)
		l.Start()
		l.Open(Now())
		for range 3 {
			complete(t, &l.slots[0], Now(), Now())
		}
		if r := resultOf(t, l, Now()); r.Arrivals != nil {
			t.Errorf("%+v: arrivals %+v of a closed loop", plan, r.Arrivals)
		}
	}
}

// Every slot on its own goroutine: none of their sends is lost, and the sum of
// the gaps is the way from the first to the last.
func TestArrivalsFromManyGoroutines(t *testing.T) {
	const each = 500
	l := opened(t, contract.Load{Connections: 16, Rate: 1e5})
	var wait sync.WaitGroup
	for i := range l.slots {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(i)))
			for range each {
				if _, more := l.slots[i].Next(0); !more {
					t.Error("no more exchanges in a running open loop")
					return
				}
				l.slots[i].Done(r.Int64N(1e8), 1e8, 30)
			}
		})
	}
	wait.Wait()
	a := resultOf(t, l, 1e9).Arrivals
	if a == nil || a.Gaps != 16*each-1 || a.SumNs < 9e7 || a.SumNs >= 1e8 {
		t.Errorf("arrivals %+v, want %d gaps over nearly 100 ms", a, 16*each-1)
	}
}
