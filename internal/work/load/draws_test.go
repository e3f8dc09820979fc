package load

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

func TestScheduleVectors(t *testing.T) {
	var v struct {
		Schedules []struct {
			Name     string
			Seed     uint64
			Slots    int
			Load     contract.Load
			SlotsDue []struct {
				Slot  int
				DueNs [][2]*int64 `json:"due_ns"`
			} `json:"slots_due"`
		}
		Refused []struct {
			Name string
			Load contract.Load
		}
	}
	if err := readVectors("schedule.json", &v); err != nil || len(v.Schedules) < 9 || len(v.Refused) < 8 {
		t.Fatalf("%d schedules, %d refused, %v", len(v.Schedules), len(v.Refused), err)
	}
	for _, s := range v.Schedules {
		setup := setupOf(s.Load)
		setup.Seed, setup.Load.Connections = s.Seed, s.Slots
		l, err := New(setup, 1)
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		for _, slot := range s.SlotsDue {
			schedule, at := l.scheduleOf(slot.Slot), int64(0)
			for _, pair := range slot.DueNs {
				for ; at < *pair[0]; at++ {
					schedule.advance()
				}
				got := schedule.peek()
				if never := pair[1] == nil; never != (got > 1<<60) || !never && got != *pair[1] {
					t.Errorf("%s: exchange %d of slot %d is due at %d", s.Name, *pair[0], slot.Slot, got)
				}
			}
		}
	}
	for _, r := range v.Refused {
		r.Load.Connections = 1
		if _, err := New(setupOf(r.Load), 1); KindOf(err) != contract.SetupFailed || err == nil {
			t.Errorf("%s: %v, expected an error of kind setup", r.Name, err)
		}
	}
}

// drawing is a setup whose sizes are drawn.
func drawing(l contract.Load) contract.Setup {
	setup := setupOf(l)
	setup.Exchange = contract.Exchange{
		UpBytes: 4096, DownBytes: 1 << 20,
		UpSizes:   contract.Table{{contract.TableEnd, 100, 4096}},
		DownSizes: contract.Table{{1 << 31, 10, 10}, {contract.TableEnd, 1, 1 << 20}},
	}
	return setup
}

// However the slots are spread over connections, exchange k of the slot in place i is
// number i + k · slots; and what is sent is counted as it was drawn.
func TestSlotsDrawOneSequence(t *testing.T) {
	for _, plan := range []contract.Load{{Connections: 6}, {Connections: 2, InFlight: 3}, {Connections: 1, InFlight: 6, Rate: 1e6}} {
		setup := drawing(plan)
		l, err := New(setup, 2)
		if err != nil {
			t.Fatal(err)
		}
		draws, err := DrawsOf(setup)
		if err != nil {
			t.Fatal(err)
		}
		l.Start()
		l.Open(Now())
		seen, up, down := map[uint64]bool{}, int64(0), int64(0)
		lengths := hist.New()
		for i := range l.slots {
			for range 20 {
				s := &l.slots[i]
				if _, more := s.Next(Now()); !more {
					t.Fatal("a slot has no more")
				}
				x := s.Draw()
				if want := draws.Of(x.Number); x != want || seen[x.Number] || x.Number%6 != uint64(l.placeOf(i)) {
					t.Fatalf("slot %d draws %+v, want %+v once", i, x, want)
				}
				seen[x.Number] = true
				up, down = up+x.Up, down+x.Down
				lengths.Record(x.Down, 1)
				s.Done(Now(), Now(), x.Down)
			}
		}
		r := resultOf(t, l, Now())
		if c := r.Counts; c.SentBytes != up || c.ReceivedBytes != down || c.Exchanges != 120 || len(seen) != 120 {
			t.Errorf("counts %+v of %d exchanges, want %d bytes up and %d down", c, len(seen), up, down)
		}
		if got, err := hist.Decode(r.Lengths); err != nil || got.Count() != 120 || got.MaxNs() != lengths.MaxNs() {
			t.Errorf("%d lengths up to %d, want 120 up to %d (%v)", got.Count(), got.MaxNs(), lengths.MaxNs(), err)
		}
	}
}

func TestSizesThatDoNotFitAreRefused(t *testing.T) {
	for _, change := range []func(*contract.Exchange){
		func(x *contract.Exchange) { x.UpBytes = 4095 },
		func(x *contract.Exchange) { x.DownBytes = 1<<20 + 1 },
		func(x *contract.Exchange) { x.UpSizes = contract.Table{{1, 1, 4096}} },
		func(x *contract.Exchange) {
			x.DownBytes, x.DownSizes = contract.MaxMessage+1, contract.Table{{contract.TableEnd, 1, contract.MaxMessage + 1}}
		},
	} {
		setup := drawing(contract.Load{Connections: 1})
		change(&setup.Exchange)
		if _, err := New(setup, 1); err == nil || KindOf(err) != contract.SetupFailed {
			t.Errorf("%+v: %v, expected an error of kind setup", setup.Exchange, err)
		}
	}
}
