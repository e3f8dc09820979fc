package load

import (
	"testing"

	"netdyno/internal/contract"
)

// The vectors say which class, sizes and key each exchange has.
func TestMixVectors(t *testing.T) {
	var v struct {
		Load  contract.Load
		Draws []struct {
			Seed, Number uint64
			Class        int
			UpBytes      int64 `json:"up_bytes"`
			DownBytes    int64 `json:"down_bytes"`
			Key          int64
		}
		Refused []struct {
			Name string
			Load contract.Load
		}
	}
	if err := readVectors("mix.json", &v); err != nil || len(v.Draws) < 20 || len(v.Refused) < 4 {
		t.Fatalf("%d draws, %d refused, %v", len(v.Draws), len(v.Refused), err)
	}
	setup := contract.Setup{Exchange: contract.Exchange{UpBytes: 1024, DownBytes: 1 << 20}, Load: v.Load}
	for _, d := range v.Draws {
		setup.Seed = d.Seed
		draws, err := DrawsOf(setup)
		if err != nil {
			t.Fatal(err)
		}
		if got := draws.Of(d.Number); got.Class != d.Class || got.Up != d.UpBytes || got.Down != d.DownBytes || got.Key != d.Key {
			t.Errorf("seed %d, exchange %d: %+v, want %+v", d.Seed, d.Number, got, d)
		}
	}
	for _, r := range v.Refused {
		setup.Load = r.Load
		setup.Load.Connections = 1
		if _, err := New(setup, 1); KindOf(err) != contract.SetupFailed || err == nil {
			t.Errorf("%s: %v, want an error of kind setup", r.Name, err)
		}
	}
}

// The vectors say how long a slot pauses after an exchange of each class.
func TestThinkVectors(t *testing.T) {
	type refused struct {
		Name string
		Load contract.Load
	}
	var v struct {
		Cases []struct {
			Seed      uint64
			Load      contract.Load
			ServiceNs int64 `json:"service_ns"`
			Slots     [][][2]int64
		}
		Refused []refused
	}
	if err := readVectors("think.json", &v); err != nil || len(v.Cases) < 2 || len(v.Refused) < 3 {
		t.Fatalf("%d cases, %d refused, %v", len(v.Cases), len(v.Refused), err)
	}
	setup := contract.Setup{Exchange: contract.Exchange{DownBytes: 300}}
	for _, c := range v.Cases {
		setup.Seed, setup.Load = c.Seed, c.Load
		l, err := New(setup, 1)
		if err != nil {
			t.Fatal(err)
		}
		l.Start()
		t0 := l.startNs.Load()
		for i, want := range c.Slots {
			s, now := &l.slots[i], t0
			for k, w := range want {
				due, more := s.Next(now)
				if x := s.Draw(); !more || int64(x.Class) != w[0] || due-t0 != w[1] {
					t.Fatalf("seed %d, slot %d, exchange %d: class %d due at %d, want %v", c.Seed, i, k, x.Class, due-t0, w)
				}
				now = due + c.ServiceNs
				s.Done(due, now, s.Draw().Down)
			}
		}
	}
	for _, r := range v.Refused {
		setup.Load = r.Load
		setup.Load.Connections = 1
		if _, err := New(setup, 1); KindOf(err) != contract.SetupFailed || err == nil {
			t.Errorf("%s: %v, want an error of kind setup", r.Name, err)
		}
	}
}

// A trace that says times alone leaves to the draws what exchanges carry: exchange number n
// is due when request n is, whichever slot takes it.
func TestATraceOfTimesDrawsWhatComes(t *testing.T) {
	times := func(x *contract.Trace) { x.Times, x.Speed = true, 2 }
	setup := replaying(recorded(t, 500), contract.Load{Connections: 3}, times)
	setup.Exchange = contract.Exchange{UpBytes: 40, DownBytes: 4000}
	for name, classes := range map[string][]contract.Class{"a mix": setup.Load.Classes, "one size": nil} {
		setup.Load.Classes = classes
		draws, err := DrawsOf(setup)
		if err != nil {
			t.Fatal(err)
		}
		l, err := New(setup, 2)
		if err != nil {
			t.Fatal(err)
		}
		l.Start()
		l.Open(Now())
		for n := range int64(400) {
			s := &l.slots[[]int{2, 0, 1, 1}[n%4]]
			due, more := s.Next(0)
			want := draws.Of(uint64(n))
			if classes == nil {
				want.Number = 0
			}
			if !more || due-l.startNs.Load() != n*5e5 || s.Draw() != want {
				t.Fatalf("%s: exchange %d is %+v, due at %d; want %+v", name, n, s.Draw(), due-l.startNs.Load(), want)
			}
			s.Done(due, due+1000, want.Down)
		}
		if r := resultOf(t, l, l.startNs.Load()+399*5e5); r.Counts.Exchanges != 400 || r.Inside.Due < 300 {
			t.Errorf("%s: %+v, %+v", name, r.Counts, r.Inside)
		}
	}
}
