package load

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/traffic"
)

// mixing is a load of three classes: 70 %, 20 % and 10 %.
func mixing(l contract.Load) contract.Setup {
	l.Classes = []contract.Class{
		{Name: "small", End: 7 * contract.TableEnd / 10, UpBytes: 10, DownBytes: 100},
		{Name: "varied", End: 9 * contract.TableEnd / 10, UpBytes: 40, DownBytes: 200, DownSizes: contract.Table{{contract.TableEnd, 150, 200}}},
		{Name: "large", End: contract.TableEnd, UpBytes: 0, DownBytes: 4000},
	}
	l.Keys = contract.Table{{contract.TableEnd / 2, 1, 1}, {contract.TableEnd, 2, 100}}
	return contract.Setup{Seed: 7, Exchange: contract.Exchange{UpBytes: 40, DownBytes: 4000}, Load: l}
}

// Exchanges are of their classes by weight, every client and slot by the same draws, and
// are counted in them: the classes' sums are the whole's.
func TestExchangesAreCountedInTheirClasses(t *testing.T) {
	const n = 20_000
	setup := mixing(contract.Load{Connections: 4, Rate: 1e6})
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
	keys := map[int64]int{}
	var failed [3]int64
	for i := range n {
		s := &l.slots[i%4]
		due, more := s.Next(Now())
		if !more {
			t.Fatal("a slot has no more")
		}
		x := s.Draw()
		if x != draws.Of(x.Number) || x.Number != uint64(i) {
			t.Fatalf("exchange %d is %+v, want %+v", i, x, draws.Of(uint64(i)))
		}
		keys[x.Key]++
		if i%10 == 0 {
			failed[x.Class]++
			s.Fail(errors.New("closed"))
			continue
		}
		s.Done(due+1000, due+1000+int64(x.Class)*1e6, x.Down)
	}
	r := resultOf(t, l, Now())
	if len(r.Classes) != 3 || r.Counts.Exchanges != n*9/10 {
		t.Fatalf("%d classes, %+v", len(r.Classes), r.Counts)
	}
	var all contract.Counts
	for i, c := range r.Classes {
		share := float64(c.Exchanges+c.Errors) / n
		if want := []float64{0.7, 0.2, 0.1}[i]; math.Abs(share-want) > 0.015 || c.Errors != failed[i] {
			t.Errorf("class %s has the share %.3f of the exchanges, want %.1f, and %d errors, want %d", c.Name, share, want, c.Errors, failed[i])
		}
		all.Exchanges, all.SentBytes, all.ReceivedBytes = all.Exchanges+c.Exchanges, all.SentBytes+c.SentBytes, all.ReceivedBytes+c.ReceivedBytes
		service, err := hist.Decode(c.Service)
		if err != nil || service.Count() != c.Exchanges || math.Abs(float64(service.MaxNs())-float64(i)*1e6) > 2e3 {
			t.Errorf("class %s: %d service times up to %d ns, %v", c.Name, service.Count(), service.MaxNs(), err)
		}
		response, err := hist.Decode(c.Response)
		if err != nil || response.Count() != c.Exchanges || math.Abs(response.MeanNs()-1000-float64(i)*1e6) > 2e3 {
			t.Errorf("class %s: %d response times, %v", c.Name, response.Count(), err)
		}
	}
	if all.Exchanges != r.Counts.Exchanges || all.SentBytes != r.Counts.SentBytes || all.ReceivedBytes != r.Counts.ReceivedBytes {
		t.Errorf("classes have %+v, all %+v", all, r.Counts)
	}
	if share := float64(keys[1]) / n; math.Abs(share-0.5) > 0.02 || len(keys) != 100 {
		t.Errorf("key 1 has the share %.3f, and there are %d", share, len(keys))
	}
}

func TestMixesThatDoNotFitAreRefused(t *testing.T) {
	for want, change := range map[string]func(*contract.Setup){
		"their ends":       func(s *contract.Setup) { s.Load.Classes[2].End-- },
		"at most 64":       func(s *contract.Setup) { s.Load.Classes = make([]contract.Class, 65) },
		"exchange at most": func(s *contract.Setup) { s.Exchange.DownBytes = 3999 },
		"down_sizes":       func(s *contract.Setup) { s.Load.Classes[1].DownBytes = 201 },
		"load.keys":        func(s *contract.Setup) { s.Load.Keys[0][0] = 0 },
		"load.trace":       func(s *contract.Setup) { s.Load.Arrival, s.Load.Rate = contract.Recorded, 5 },
	} {
		setup := mixing(contract.Load{Connections: 1})
		change(&setup)
		if _, err := New(setup, 1); KindOf(err) != contract.SetupFailed || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// recorded writes n requests, one each ms, in turn of three classes.
func recorded(t testing.TB, n int) string {
	t.Helper()
	blocks, err := os.Create(filepath.Join(t.TempDir(), "blocks"))
	if err != nil {
		t.Fatal(err)
	}
	defer blocks.Close()
	w := traffic.NewWriter(blocks)
	for i := range n {
		if err := w.Add(traffic.Request{AtNs: int64(i) * 1e6, Class: i % 3, Up: int64(i % 7), Down: int64(i), Path: i % 2}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	_, _ = blocks.Seek(0, 0)
	name := filepath.Join(t.TempDir(), "traffic")
	out, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	if err := traffic.Assemble(out, "", []string{"/a", "/b"}, nil, blocks); err != nil {
		t.Fatal(err)
	}
	return name
}

func replaying(file string, l contract.Load, change func(*contract.Trace)) contract.Setup {
	setup := mixing(l)
	setup.Exchange = contract.Exchange{UpBytes: 1 << 20, DownBytes: 1 << 20}
	setup.Load.Rate, setup.Load.Arrival, setup.Load.Keys = 1000, contract.Recorded, nil
	setup.Load.Trace = &contract.Trace{File: file, Begins: int64(len("...\n")), Speed: 1}
	if change != nil {
		change(setup.Load.Trace)
	}
	return setup
}

// Requests are given out in the order in which they are due, to whichever slot asks, at
// the recorded times by the speed; after the last one comes the first.
func TestRecordedTrafficIsReplayed(t *testing.T) {
	const n = 5000
	file := recorded(t, n)
	for name, c := range map[string]struct {
		change       func(*contract.Trace)
		first, every int
		gap          float64 // ns
	}{
		"as it was":           {nil, 0, 1, 1e6},
		"twice as fast":       {func(x *contract.Trace) { x.Speed = 2 }, 0, 1, 5e5},
		"from a moment":       {func(x *contract.Trace) { x.FromNs = 4000e6 }, 4000, 1, 1e6},
		"the second of three": {func(x *contract.Trace) { x.Part, x.Parts = 1, 3 }, 1, 3, 3e6},
	} {
		l, err := New(replaying(file, contract.Load{Connections: 10}, c.change), 2)
		if err != nil {
			t.Fatal(err)
		}
		l.Start()
		start, at := l.startNs.Load(), c.first
		for i := range 2 * n {
			s := &l.slots[i*7%10]
			due, more := s.Next(Now())
			x := s.Draw()
			want := int64(float64(c.first%c.every)*1e6 + float64(i)*c.gap)
			if !more || due != start+want || x.Class != at%n%3 || x.Down != int64(at%n) || l.draws.Path(x) != []string{"/a", "/b"}[at%n%2] {
				t.Fatalf("%s: request %d is %+v due at %d, want request %d at %d", name, i, x, due-start, at%n, want)
			}
			at += c.every
			s.Done(due, due, x.Down)
		}
		if r := resultOf(t, l, Now()); r.Counts.Exchanges != 0 || len(r.Classes) != 3 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

// What was due in the window and never sent is unfinished, and so counted as due.
func TestRecordedTrafficThatIsNotSentIsUnfinished(t *testing.T) {
	l, err := New(replaying(recorded(t, 5000), contract.Load{Connections: 1}, nil), 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	start := l.startNs.Load()
	l.Open(start + 100e6)
	s := &l.slots[0]
	for range 101 {
		due, _ := s.Next(Now())
		s.Done(due, due, 1)
	}
	if _, more := s.Next(Now()); !more { // in flight for ever
		t.Fatal("no more")
	}
	l.Close(start + 1099.5e6)
	r := resultOf(t, l, start+1099.5e6)
	if r.Unfinished != 999 || math.Abs(r.Inside.Due-999.5) > 1e-3 {
		t.Errorf("%d unfinished, %v due in the window; want 999 and 999.5", r.Unfinished, r.Inside.Due)
	}
}

func TestTracesThatCannotBeReplayedAreRefused(t *testing.T) {
	file := recorded(t, 100)
	for want, change := range map[string]func(*contract.Trace){
		"load.trace.speed":        func(x *contract.Trace) { x.Speed = 0 },
		"load.trace.part":         func(x *contract.Trace) { x.Part = 1 },
		"no such file":            func(x *contract.Trace) { x.File += "x" },
		"the body does not begin": func(x *contract.Trace) { x.Begins++ },
		"nothing is left of it":   func(x *contract.Trace) { x.FromNs = 1e12 },
	} {
		if _, err := New(replaying(file, contract.Load{Connections: 1}, change), 1); KindOf(err) != contract.SetupFailed || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
	setup := replaying(file, contract.Load{Connections: 1}, nil)
	setup.Load.Classes = setup.Load.Classes[:1]
	if _, err := New(setup, 1); err != nil {
		t.Fatal(err) // the first request is of the first class
	}
}

// Exchanges are counted by their path and by the step in which they were due, those that never
// ended too, and of a step what completed while it lasted.
func TestExchangesAreCountedByPathAndStep(t *testing.T) {
	second := float64(1e9)
	l, err := New(contract.Setup{Load: contract.Load{Connections: 2, Rate: 15, Phases: []contract.Phase{{second, 10, 10}, {second, 20, 20}}}}, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Paths([]string{"/a", "/b"})
	l.Start()
	l.Open(Now())
	start := l.startNs.Load()
	for i := range 28 { // 10 and 18 of the 20
		s := &l.slots[i%2]
		due, more := s.Next(Now())
		if !more {
			t.Fatal("a slot has no more")
		}
		s.AsksFor(i % 2)
		took := int64(1e6)
		if i == 9 { // it ends in the step after
			took = 2e8
		}
		if i == 20 {
			s.Fail(errors.New("closed"))
			continue
		}
		s.Done(due, due+took, 0)
	}
	if _, more := l.slots[0].Next(Now()); !more {
		t.Fatal("a slot has no more")
	}
	l.End(start + 2e9)
	r, err := l.Result()
	if err != nil || len(r.Paths) != 2 || len(r.Steps) != 2 {
		t.Fatalf("%+v, %v", r, err)
	}
	for i, want := range []struct{ exchanges, times, errors, unfinished int64 }{{9, 10, 0, 0}, {18, 17, 1, 2}} {
		times, err := hist.Decode(r.Steps[i].Response)
		if got := r.Steps[i]; err != nil || got.Exchanges != want.exchanges || times.Count() != want.times || got.Errors != want.errors || got.Unfinished != want.unfinished {
			t.Errorf("step %d: %d exchanges, %d times, %d errors, %d unfinished; want %+v", i, got.Exchanges, times.Count(), got.Errors, got.Unfinished, want)
		}
	}
	for i, want := range []struct{ exchanges, errors, unfinished int64 }{{13, 1, 1}, {14, 0, 0}} {
		if got := r.Paths[i]; got.Exchanges != want.exchanges || got.Errors != want.errors || got.Unfinished != want.unfinished {
			t.Errorf("path %s: %+v, want %+v", got.Name, got, want)
		}
	}
}

// Each part of a load that goes on has the classes and the sizes of what completed in it.
func TestPartsHaveTheirClasses(t *testing.T) {
	setup := mixing(contract.Load{Connections: 1, Turns: [][2]int64{{0, 1e12}}})
	l, err := New(setup, 1)
	if err != nil {
		t.Fatal(err)
	}
	l.Start()
	l.Open(Now())
	s := &l.slots[0]
	for _, n := range []int64{100, 40} {
		for range n {
			due, _ := s.Next(Now())
			s.Done(due, due+1e6, s.Draw().Down)
		}
		r, err := l.PartResult(l.Part(Now()))
		if err != nil || len(r.Classes) != 3 || len(r.Bins) == 0 {
			t.Fatalf("%+v, %v", r, err)
		}
		exchanges, times := int64(0), int64(0)
		for _, c := range r.Classes {
			h, err := hist.Decode(c.Service)
			if err != nil {
				t.Fatal(err)
			}
			exchanges, times = exchanges+c.Exchanges, times+h.Count()
		}
		if exchanges != n || times != n || r.Counts.Exchanges != n {
			t.Errorf("a part of %d exchanges has %d in its classes, with %d times", n, exchanges, times)
		}
	}
}
