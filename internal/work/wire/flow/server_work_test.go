package flow

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/work/load"
)

func workingServer(t *testing.T, by contract.WorkBy, x contract.Exchange) *Server {
	t.Helper()
	const ns = 1_000_000_000 // as long as no test waits
	if by == contract.WorkCPU {
		t.Fatal("it would take a second")
	}
	work, err := NewWork(contract.Setup{Role: contract.Server, Exchange: x, Work: &contract.Work{Ns: contract.Table{{contract.TableEnd, ns, ns}}, By: by}})
	if err != nil {
		t.Fatal(err)
	}
	return NewServer(work, &Traffic{})
}

// Of several requests that came together each is worked for by itself: none is read before
// the reply to the one before, and no reply ends before its work does.
func TestEachEchoIsWorkedFor(t *testing.T) {
	s := workingServer(t, contract.WorkSleep, contract.Exchange{UpBytes: 10, DownBytes: 10})
	var dues []int64
	s.SleepBy(func(due int64) { dues = append(dues, due) })
	before := load.Now()
	if got := s.Limit(64); got != 10 {
		t.Fatalf("reads up to %d bytes of a message of 10", got)
	}
	receive := func(n int) {
		t.Helper()
		if err := s.Received(make([]byte, n)); err != nil {
			t.Fatal(err)
		}
	}
	receive(4) // goes back at once
	if s.Written(len(s.Outgoing())); s.Unsent() || s.Limit(64) != 6 || len(dues) > 0 {
		t.Fatalf("after a part: unsent %v, reads %d, %d sleeps", s.Unsent(), s.Limit(64), len(dues))
	}
	receive(6)
	if len(dues) != 1 || dues[0] < before+1_000_000_000 || s.Unsent() || s.Limit(64) != 0 {
		t.Fatalf("at work: sleeps %v, unsent %v, reads %d", dues, s.Unsent(), s.Limit(64))
	}
	if s.Awake(); !s.Unsent() || len(s.Outgoing()) != 6 {
		t.Fatal("after its work the end of the reply waits to be written")
	}
	if s.Written(6); s.Unsent() || s.Limit(64) != 10 {
		t.Error("the next request is not read")
	}
}

func TestWorkNeedsMessagesWithAnEnd(t *testing.T) {
	table := contract.Table{{contract.TableEnd, 1, 100}}
	_, err := NewWork(contract.Setup{
		Role: contract.Server, Exchange: contract.Exchange{UpBytes: 100, DownBytes: 100, UpSizes: table, DownSizes: table},
		Work: &contract.Work{Ns: table, By: contract.WorkCPU},
	})
	if load.KindOf(err) != contract.Unsupported || err == nil {
		t.Error(err)
	}
}
