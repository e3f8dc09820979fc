package load

import (
	"errors"
	"testing"

	"netdyno/internal/contract"
)

func TestSlotRunnerCountsEveryEndOfACall(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 3, InFlight: 2, Amount: 6})
	l.Start()
	c := NewSlotRunner(l, func(connection, _ int) Call {
		n := 0
		return func() (int64, error) {
			n++
			switch {
			case connection == 1 && n == 2:
				return 0, Failure(contract.Invalid, errors.New("a short body"))
			case connection == 2 && n == 2:
				return 0, errors.New("connection reset")
			}
			return 30, nil
		}
	})
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	r, err := l.Result()
	if err != nil {
		t.Fatal(err)
	}
	// Of 6 exchanges on each: all, all but one invalid per slot, one per slot before each slot's loss.
	if got := r.Counts; got.Exchanges != 6+4+2 || got.Errors[contract.Invalid] != 2 || got.Errors[contract.Peer] != 2 {
		t.Errorf("counts %+v, want 12 exchanges, 2 invalid and 2 peer", got)
	}
}

func TestSlotRunnerWithoutConnectionsFails(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 2})
	l.Start()
	c := NewSlotRunner(l, func(int, int) Call {
		return func() (int64, error) { return 0, errors.New("connection reset") }
	})
	if err := c.Run(); KindOf(err) != contract.Peer || err == nil {
		t.Errorf("%v, want an error of kind peer", err)
	}
}

func TestAClosedSlotRunnerLeavesItsExchangesUnfinished(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 2})
	l.Start()
	var c *SlotRunner
	c = NewSlotRunner(l, func(int, int) Call {
		return func() (int64, error) { c.Close(); return 0, errors.New("use of closed connection") }
	})
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	r, err := l.Result()
	if err != nil || len(r.Counts.Errors) > 0 || r.Unfinished == 0 {
		t.Errorf("result %+v, %v; want no errors and exchanges left unfinished", r, err)
	}
}
