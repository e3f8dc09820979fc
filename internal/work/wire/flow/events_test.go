package flow

import (
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/work/load"
)

// A client tells each message of a reply when it is there, and asks for no more than it lacks.
func TestClientTellsMessagesAsEvents(t *testing.T) {
	setup := contract.Setup{
		Events: true, Stages: true,
		Exchange: contract.Exchange{Stream: contract.StreamDown, UpBytes: 3, DownBytes: 9, ChunkBytes: 4},
		Load:     contract.Load{Connections: 1, InFlight: 2, Amount: 2},
	}
	work, err := NewWork(setup)
	if err != nil {
		t.Fatal(err)
	}
	l, err := load.New(setup, 1)
	if err != nil {
		t.Fatal(err)
	}
	c := NewClient(work, l.Slots(0), &Agenda{})
	l.Start()
	c.Begin()
	write(c, 6)
	for _, step := range []struct{ came, missing int }{{0, 1}, {3, 1}, {2, 3}, {4, 1}, {3, 1}} { // the last has 3 bytes of the second reply
		if err := c.Received(make([]byte, step.came)); err != nil {
			t.Fatal(err)
		}
		if got := c.Missing(); got != int64(step.missing) {
			t.Errorf("after %d more bytes it lacks %d, want %d", step.came, got, step.missing)
		}
	}
	l.End(load.Now())
	result, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	e := result.Events
	if e == nil || e.Count != 3 {
		t.Fatalf("events are %+v, want the 3 of the first reply", e)
	}
	for _, of := range []struct {
		name, times string
		want        int64
	}{{"first bytes", result.Stages.FirstByte, 2}, {"first events", e.First, 1}, {"gaps", e.Gaps, 2}, {"waiting", e.Waiting, 1}} {
		if h, err := hist.Decode(of.times); err != nil || h.Count() != of.want {
			t.Errorf("%s: %v, %v; want %d", of.name, h, err, of.want)
		}
	}
}

// Message k of a paced reply leaves k times the pace after the first, whatever was late between.
func TestServerPacesMessages(t *testing.T) {
	const every = int64(time.Hour)
	work, err := NewWork(contract.Setup{
		Role:     contract.Server,
		Exchange: contract.Exchange{Stream: contract.StreamDown, UpBytes: 3, DownBytes: 9, ChunkBytes: 4, EveryNs: every},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := NewServer(work, &Traffic{})
	var dues []int64
	s.SleepBy(func(due int64) { dues = append(dues, due) })
	if err := s.Received(whole(t, &work.Up, 4)); err != nil {
		t.Fatal(err)
	}
	before := load.Now()
	for k, bytes := range []int{4, 4, 1} {
		if !s.Unsent() || len(s.Outgoing()) != bytes {
			t.Fatalf("message %d: unsent %v, %d bytes, want %d", k, s.Unsent(), len(s.Outgoing()), bytes)
		}
		if bytes > 1 { // the kernel takes it in two
			s.Written(1)
			bytes--
		}
		s.Written(bytes)
		if s.Unsent() {
			t.Fatalf("after message %d more is to be written at once", k)
		}
		if k < 2 {
			s.Awake()
		}
	}
	if len(dues) != 2 || dues[0] < before+every || dues[0] > load.Now()+every || dues[1] != dues[0]+every {
		t.Errorf("due %v after %d", dues, before)
	}
	if s.Limit(10) == 0 || s.traffic.exchanges.Load() != 1 {
		t.Error("the reply is not over")
	}
}
