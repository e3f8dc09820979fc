package load

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

func TestTurnsAreWhereTheyAre(t *testing.T) {
	var v struct {
		Turns     [][2]int64
		Due, Next [][2]*int64
		Refused   [][][2]int64
	}
	if err := readVectors("turns.json", &v); err != nil || len(v.Due) < 6 || len(v.Next) < 6 || len(v.Refused) < 3 {
		t.Fatal(err, v)
	}
	of, err := turnsOf(contract.Load{Turns: v.Turns})
	if err != nil {
		t.Fatal(err)
	}
	for what, c := range map[string]struct {
		pairs [][2]*int64
		is    func(int64) int64
	}{"due": {v.Due, of.dueAt}, "next": {v.Next, of.next}} {
		for _, pair := range c.pairs {
			want := int64(never)
			if pair[1] != nil {
				want = *pair[1]
			}
			if got := c.is(*pair[0]); got != want {
				t.Errorf("%s of %d is %d, want %d", what, *pair[0], got, want)
			}
		}
	}
	for _, bad := range append(v.Refused, [][2]int64{}, make([][2]int64, mostTurns+1)) {
		if _, err := turnsOf(contract.Load{Turns: bad}); err == nil {
			t.Errorf("%d turns %v are taken", len(bad), bad[:min(len(bad), 3)])
		}
	}
	if _, err := turnsOf(contract.Load{Turns: [][2]int64{{0, 1}}, Amount: 5}); KindOf(err) != contract.Unsupported {
		t.Errorf("turns beside an amount: %v", err)
	}
}

// Whatever is due is due in a turn: in an open loop as often as the rate asks of the turns'
// time, in a closed loop at once or when the next turn begins.
func TestExchangesAreDueInTurns(t *testing.T) {
	spans := [][2]int64{{10 * ms, 110 * ms}, {400 * ms, 500 * ms}, {500 * ms, 600 * ms}}
	for _, plan := range []contract.Load{
		{Connections: 4, Rate: 1000, Turns: spans}, {Connections: 4, Rate: 1000, Arrival: contract.Poisson, Turns: spans}, {Connections: 4, Turns: spans},
	} {
		l, err := New(setupOf(plan), 2)
		if err != nil {
			t.Fatal(err)
		}
		const epoch = 1 << 40
		l.startNs.Store(epoch)
		n := 0
		for i := range l.slots {
			now := int64(epoch)
			for {
				due, more := l.slots[i].Next(now)
				if !more || due-epoch > second {
					break
				}
				if at := due - epoch; l.turns.next(at) != at {
					t.Fatalf("%+v: due at %d ns, outside of turns", plan, at)
				}
				now = max(due, now) + 3*ms
				l.slots[i].Done(due, now, 30)
				n++
			}
		}
		if want := 300; plan.Rate > 0 && (n < want-60 || n > want+60) || plan.Rate > 0 && plan.Arrival == "" && n != want || plan.Rate == 0 && n < 4*90 {
			t.Errorf("%+v: %d exchanges in 300 ms of turns", plan, n)
		}
	}
}

// Parts count every exchange once, in the window in which it completes, and the histogram of
// a part has as many values as it has exchanges.
func TestPartsAddUp(t *testing.T) {
	l, err := New(setupOf(contract.Load{Connections: 2, Rate: 100, Turns: [][2]int64{{0, never}}}), 2)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	now := l.startNs.Load()
	exchange := func(slot int) {
		due, _ := l.slots[slot].Next(now)
		now = max(now, due) + ms
		l.slots[slot].Done(now-ms, now, 30)
	}
	if l.Part(now) != nil {
		t.Error("a part ended before a window was open")
	}
	exchange(0)
	l.Open(now)
	var want, got int64
	for part := range 5 {
		for range part + 1 {
			exchange(part % 2)
			want++
		}
		p := l.Part(now)
		exchange(1) // before the part is read: it is of the next
		want++
		if all := l.Counts().Exchanges; all != want+1 {
			t.Errorf("%d exchanges since ready, want %d", all, want+1)
		}
		r, err := l.PartResult(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{r.Service, r.Response} {
			if h, err := hist.Decode(text); err != nil || h.Count() != r.Counts.Exchanges {
				t.Errorf("part %d has %d exchanges, and times of %d (%v)", part, r.Counts.Exchanges, h.Count(), err)
			}
		}
		if r.Inside != nil || r.Arrivals != nil || r.ToNs <= r.FromNs {
			t.Errorf("part %d is %+v", part, r)
		}
		got += r.Counts.Exchanges
	}
	l.End(now)
	r, err := l.Result()
	if got += r.Counts.Exchanges; err != nil || got != want || l.Counts().Exchanges != want+1 {
		t.Errorf("parts and the last window have %d exchanges, want %d (%v)", got, want, err)
	}
	if sent := l.Sent(); sent.Before != 1 || sent.Window != want {
		t.Errorf("sent %+v, want %d in windows", sent, want)
	}
}

// While a slot is busy the others take what falls due, each due once.
func TestAFreeSlotTakesTheNextDue(t *testing.T) {
	l := newLoad(t, contract.Load{Connections: 4, Rate: 100, Turns: [][2]int64{{0, 10 * second}}})
	const epoch = 1 << 40
	l.startNs.Store(epoch)
	var free Agenda[*Slot]
	for i := range l.slots {
		due, _ := l.slots[i].Next(epoch)
		free.Push(due, &l.slots[i])
	}
	free.Pop() // the first is busy from then on
	for n := range 100 {
		due, s := free.Peek()
		free.Pop()
		if want := epoch + 15*ms + int64(n)*10*ms; due != want {
			t.Fatalf("exchange %d after that is due %d ns after the start, expected %d", n, due-epoch, want-epoch)
		}
		s.Done(due, due+ms, 30)
		due, _ = s.Next(due + ms)
		free.Push(due, s)
	}
}
