package load

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// readVectors reads one of the contract's files of vectors.
func readVectors(name string, to any) error {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "contract", "vectors", name))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}

func setupOf(l contract.Load) contract.Setup {
	return contract.Setup{Seed: 1, Exchange: contract.Exchange{UpBytes: 10, DownBytes: 30}, Load: l}
}

func newLoad(t *testing.T, l contract.Load) *Load {
	t.Helper()
	got, err := New(setupOf(l), 2)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestCompletionsCountInThePhaseInWhichTheyComplete(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 3})
	l.Start()
	slots := []*Slot{&l.Slots(0)[0], &l.Slots(1)[0], &l.Slots(2)[0]}
	exchange := func(s *Slot) {
		now := Now()
		if _, more := s.Next(now); !more {
			t.Fatal("no more exchanges in a running closed loop")
		}
		s.Done(now, now+1000, 30)
	}
	exchange(slots[0])                   // warm-up
	_, _ = slots[1].Next(Now())          // begins in the warm-up…
	l.Open(Now())                        //
	slots[1].Done(Now(), Now()+1000, 30) // …and counts in the window
	exchange(slots[0])                   // window
	_, _ = slots[0].Next(Now())          // drained later
	_, _ = slots[2].Next(Now())          // never finished
	_, _ = slots[1].Next(Now())          // fails
	slots[1].Fail(Failure(contract.Timeout, errors.New("no answer")))
	l.End(Now())                         //
	slots[0].Done(Now(), Now()+1000, 30) //
	if _, more := slots[0].Next(Now()); more {
		t.Fatal("a closed loop goes on after the end")
	}
	r, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	c := r.Counts
	if c.Exchanges != 2 || c.ReceivedBytes != 60 || c.SentBytes != 20 || c.Errors[contract.Timeout] != 1 {
		t.Errorf("window counts %+v, want 2 exchanges and 1 timeout", c)
	}
	if r.Drained != 1 || r.Unfinished != 1 {
		t.Errorf("drained %d and unfinished %d, want 1 and 1", r.Drained, r.Unfinished)
	}
	service, err := hist.Decode(r.Service)
	if err != nil || service.Count() != c.Exchanges+r.Drained {
		t.Errorf("service times of %d exchanges (%v), want those of window and drain", service.Count(), err)
	}
	if r.Response != "" || r.Lag != "" {
		t.Error("a closed loop invented response times or lag")
	}
	if all := l.Counts(); all.Exchanges != 4 || all.ReceivedBytes != 120 {
		t.Errorf("cumulative counts %+v, want 4 exchanges", all)
	}
}

func TestFixedAmountIsSharedOutExactly(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 2, InFlight: 3, Amount: 10})
	l.Start()
	for c := range 2 {
		done := 0
		for i := range l.Slots(c) {
			s := &l.Slots(c)[i]
			for {
				now := Now()
				if _, more := s.Next(now); !more {
					break
				}
				s.Done(now, now, 30)
				done++
			}
		}
		if done != 10 {
			t.Errorf("connection %d did %d exchanges, want 10", c, done)
		}
	}
	r, err := l.Result()
	if err != nil || r.Counts.Exchanges != 20 || r.Unfinished != 0 {
		t.Errorf("result %+v, %v; want 20 exchanges in the window that the start opened", r, err)
	}
}

// A stall of the transport while the schedule goes on must show: what fell due
// and was not sent is unfinished, with its age.
func TestBacklogAtTheEndDoesNotVanish(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 1, Rate: 1000})
	l.Start()
	l.Open(Now())
	s := &l.Slots(0)[0]
	if _, more := s.Next(Now()); !more { // in flight for ever
		t.Fatal("nothing due")
	}
	time.Sleep(20 * time.Millisecond)
	l.End(Now())
	r, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	ages, err := hist.Decode(r.Ages)
	if err != nil {
		t.Fatal(err)
	}
	window := r.ToNs - r.FromNs
	if want := window / 1e6; r.Unfinished < want-1 || r.Unfinished > want+1 || ages.Count() != r.Unfinished {
		t.Errorf("%d unfinished, ages of %d, want the %d that fell due", r.Unfinished, ages.Count(), want)
	}
	if oldest := ages.MaxNs(); oldest < 18e6 {
		t.Errorf("the oldest is %v old, want at least the stall", time.Duration(oldest))
	}
}

func TestOpenLoopSendsItsBacklogAfterTheEnd(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 1, Rate: 1000})
	l.Start()
	l.Open(Now())
	time.Sleep(10 * time.Millisecond)
	l.End(Now())
	s, sent := &l.Slots(0)[0], int64(0)
	for {
		now := Now()
		due, more := s.Next(now)
		if !more {
			break
		}
		if due > l.closeNs.Load() {
			t.Fatal("sends what fell due after the end")
		}
		s.Done(now, now, 30)
		sent++
	}
	r, err := l.Result()
	if err != nil || sent < 9 || r.Drained != sent || r.Unfinished != 0 {
		t.Errorf("%d sent, result %+v, %v; want the whole backlog drained", sent, r, err)
	}
}

func TestThinkTimeFollowsCompletion(t *testing.T) {
	const think = int64(5 * time.Millisecond)
	l := newLoad(t, contract.Load{Connections: 4, ThinkNs: think})
	l.Start()
	first := map[int64]bool{}
	for c := range 4 {
		due, _ := l.Slots(c)[0].Next(Now())
		first[due] = true
	}
	if len(first) != 4 {
		t.Errorf("%d different first starts of 4 connections: they would burst", len(first))
	}
	s := &l.Slots(0)[0]
	done := Now()
	s.Done(done, done, 30)
	if due, _ := s.Next(done); due != done+think {
		t.Errorf("next is due %d ns after completion, want %d", due-done, think)
	}
}

func TestActiveShare(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 10, ActiveShare: 0.25, InFlight: 2})
	if l.ActiveConnections() != 3 || len(l.Slots(2)) != 2 || l.Slots(3) != nil {
		t.Errorf("%d active, slots %d and %d; want ⌈2.5⌉ = 3 connections of 2 slots", l.ActiveConnections(), len(l.Slots(2)), len(l.Slots(3)))
	}
}

func TestBadLoadsNameTheirKey(t *testing.T) {
	for key, l := range map[string]contract.Load{
		"load.connections":  {},
		"load.in_flight":    {Connections: 1, InFlight: -1},
		"load.active_share": {Connections: 1, ActiveShare: 2},
		"load.rate":         {Connections: 1, Rate: -5},
		"load.arrival":      {Connections: 1, Arrival: "uniform"},
		"load.think_ns":     {Connections: 1, Rate: 5, ThinkNs: 5},
		"load.amount":       {Connections: 1, Amount: -1},
	} {
		if _, err := New(setupOf(l), 1); err == nil || !strings.Contains(err.Error(), key) {
			t.Errorf("%+v: %v, want an error about %s", l, err, key)
		}
	}
}

func TestSlotDoesNotAllocate(t *testing.T) {
	for name, plan := range map[string]contract.Load{
		"closed": {Connections: 1}, "open": {Connections: 1, Rate: 1e9}, "poisson": {Connections: 1, Rate: 1e9, Arrival: contract.Poisson},
	} {
		l := newLoad(t, plan)
		l.Start()
		l.Open(Now())
		s := &l.Slots(0)[0]
		if n := testing.AllocsPerRun(1000, func() {
			now := Now()
			if _, more := s.Next(now); more {
				s.Done(now, now, 30)
			}
		}); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// A control goroutine that is descheduled between switching the window and
// reading the counts must still report the edge.
func TestEdgeLeavesOutWhatCameAfterIt(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 1})
	l.Start()
	s := &l.Slots(0)[0]
	exchanges := func(n int) {
		for range n {
			now := Now()
			if _, more := s.Next(now); !more {
				t.Fatal("no more exchanges in a running closed loop")
			}
			s.Done(now, now, 30)
		}
	}
	exchanges(3)
	l.Open(Now())
	exchanges(5)
	if got := l.Snapshot().Exchanges; got != 3 {
		t.Errorf("%d exchanges at the opening edge, want the 3 before it", got)
	}
	if _, more := s.Next(Now()); !more {
		t.Fatal("no more exchanges in a running closed loop")
	}
	if !l.Close(Now()) {
		t.Fatal("an open window does not close")
	}
	s.Done(Now(), Now(), 30) // drained
	if edge, all := l.Snapshot().Exchanges, l.Counts().Exchanges; edge != 8 || all != 9 {
		t.Errorf("%d exchanges at the closing edge and %d in all, want 8 and 9", edge, all)
	}
}
