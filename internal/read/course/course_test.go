package course

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"netdyno/internal/hist"
)

const second = int64(1e9)

// server is one that a load of ours would see: how long a request takes that is sent at an
// instant, without those before it.
type server struct {
	takes func(r *rand.Rand, ns int64) int64
	open  float64 // requests per s; 0 of a closed loop
	slots int
}

const quick = int64(5e6)

func some(r *rand.Rand, ns int64) int64 { return int64(float64(ns) * (0.7 + 0.6*r.Float64())) }

// pausing stands still for a time after each period: who is there waits for its end.
func pausing(every, stands int64) func(r *rand.Rand, ns int64) int64 {
	return func(r *rand.Rand, ns int64) int64 {
		takes := some(r, quick)
		if end := (ns + takes) % every; end < stands {
			return takes + stands - end
		}
		return takes
	}
}

func slow(ns int64) func(r *rand.Rand, _ int64) int64 {
	return func(r *rand.Rand, _ int64) int64 { return ns + some(r, quick/10) }
}

// sometimes takes long for a share of requests.
func sometimes(share float64, long int64) func(r *rand.Rand, ns int64) int64 {
	return func(r *rand.Rand, _ int64) int64 {
		if r.Float64() < share {
			return long + some(r, quick)
		}
		return some(r, quick)
	}
}

// load simulates what a client records of a server for so many seconds.
func (s server) load(seed uint64, seconds int) Load {
	r := rand.New(rand.NewPCG(seed, 7))
	l := Load{Arm: "server"}
	type reply struct{ at, service, response int64 }
	var replies []reply
	free := make([]int64, s.slots) // when each slot is
	end := int64(seconds) * second
	for n := 1; ; n++ {
		at := slices.Index(free, slices.Min(free))
		sent := free[at]
		due := sent
		if s.open > 0 {
			due = int64(float64(n) / s.open * 1e9)
			sent = max(sent, due)
		}
		if sent >= end {
			break
		}
		takes := s.takes(r, sent)
		free[at] = sent + takes
		replies = append(replies, reply{sent + takes, takes, sent + takes - due})
	}
	slices.SortFunc(replies, func(a, b reply) int { return int(a.at - b.at) })
	next, done := 0, int64(0)
	for turn := range seconds {
		t := Turn{Block: turn + 1, FromNs: int64(turn) * second, ToNs: int64(turn+1) * second, Rated: true, Open: s.open > 0, Slots: s.slots}
		service, response, before := hist.New(), hist.New(), done
		t.Ticks = append(t.Ticks, Tick{t.FromNs - 1e8, done})
		for at := t.FromNs + 1e8; ; at += 2e8 {
			for ; next < len(replies) && replies[next].at < min(at, t.ToNs); next++ {
				service.Record(replies[next].service, 1)
				response.Record(replies[next].response, 1)
				done++
			}
			if at > t.ToNs {
				break
			}
			t.Ticks = append(t.Ticks, Tick{at, done})
		}
		t.PerS = float64(done - before)
		if t.Service, t.Times = service.Pack(), service.Pack(); t.Open {
			t.Times = response.Pack()
		}
		l.Turns = append(l.Turns, t)
	}
	return l
}

// warming takes long before a while is over.
func warming(until int64) func(r *rand.Rand, ns int64) int64 {
	return func(r *rand.Rand, ns int64) int64 {
		if ns < until {
			return some(r, 20*quick)
		}
		return some(r, quick)
	}
}

// seeds is how many loads of each server are simulated; fewer of a quick test.
func seeds() int {
	if testing.Short() {
		return 1
	}
	return 5
}

// What a server is like is said, and nothing else.
func TestWhatTheServerIsLikeIsSaid(t *testing.T) {
	leak := func(r *rand.Rand, ns int64) int64 { return some(r, quick+ns/5000) }
	throttled := func(r *rand.Rand, ns int64) int64 {
		if ns > 18*second {
			return some(r, 10*quick)
		}
		return some(r, quick)
	}
	for name, c := range map[string]struct {
		server
		still, change, modes bool
	}{
		"even, closed":                   {server: server{slow(quick), 0, 20}},
		"even, open":                     {server: server{slow(quick), 200, 20}},
		"low rate":                       {server: server{slow(quick), 2, 20}},
		"each takes 1 s, closed":         {server: server{slow(second), 0, 20}},
		"each takes 1 s, open":           {server: server{slow(second), 15, 20}},
		"each takes 300 ms, many slots":  {server: server{slow(second * 3 / 10), 0, 200}},
		"few slow ones":                  {server: server{sometimes(0.002, second), 0, 20}},
		"one slot, few slow ones":        {server: server{sometimes(0.001, second), 0, 1}},
		"overloaded":                     {server: server{slow(second / 2), 100, 20}, change: true}, // the queue grows
		"pausing, closed":                {server: server{pausing(11*second/2, 3*second/2), 0, 20}, still: true},
		"pausing, open":                  {server: server{pausing(11*second/2, 3*second/2), 200, 20}, still: true},
		"pausing, open, many slots":      {server: server{pausing(11*second/2, 3*second/2), 200, 500}, still: true},
		"pausing for 60 ms each second":  {server: server{pausing(second, second*6/100), 200, 20}},
		"one in ten takes 1 s, open":     {server: server{sometimes(0.1, second), 100, 50}, modes: true},
		"one in ten takes 1 s, closed":   {server: server{sometimes(0.1, second), 0, 20}, modes: true},
		"one in 100 takes 1 s, closed":   {server: server{sometimes(0.01, second), 0, 20}, modes: true},
		"one in 25 takes 40 ms":          {server: server{sometimes(0.04, second/25), 200, 20}, modes: true},
		"warming up, closed":             {server: server{warming(5 * second), 0, 20}, change: true},
		"warming up, open":               {server: server{warming(5 * second), 100, 20}, change: true},
		"leak, closed":                   {server: server{leak, 0, 20}, change: true},
		"leak, open":                     {server: server{leak, 200, 20}, change: true},
		"throttled after a time, closed": {server: server{throttled, 0, 20}, change: true},
		"throttled after a time, open":   {server: server{throttled, 200, 20}, change: true},
	} {
		t.Run(name, func(t *testing.T) {
			for seed := range uint64(seeds()) {
				got := Of(c.load(seed, 30), Level)
				if (got.Still != nil) != c.still || (got.Change != nil) != c.change || (got.Modes != nil) != c.modes {
					t.Fatalf("seed %d: stood still %+v, changed %+v, two times %+v", seed, got.Still, got.Change, got.Modes)
				}
				if seed == 0 {
					t.Log(Worst([]Course{got}, func(Course) string { return "The server" }, 2))
				}
			}
		})
	}
}

func TestTheFiguresOfWhatIsSaid(t *testing.T) {
	c := Of(server{pausing(11*second/2, 3*second/2), 200, 20}.load(1, 33), Level)
	if s := c.Still; s == nil || s.Times != 6 && s.Times != 5 || math.Abs(s.LongestS-1.5) > 0.05 || math.Abs(s.StoodS-1.5*float64(s.Times)) > 0.2 || s.OfS != 33 {
		t.Errorf("stood still: %+v", c.Still)
	}
	c = Of(server{warming(5 * second), 0, 20}.load(1, 30), Level)
	if w := c.Change; w == nil || !w.Faster || w.CutBlock != 5 && w.CutBlock != 6 || w.BeforeS != 5 || w.LeftS != 30-float64(w.CutBlock) || math.Abs(w.After/w.Before-20) > 1 {
		t.Errorf("warming up: %+v", w)
	}
	c = Of(server{sometimes(0.1, second), 100, 50}.load(1, 30), Level)
	if m := c.Modes; m == nil || math.Abs(m.Share-0.1) > 0.02 || math.Abs(m.SlowS-1) > 0.01 || math.Abs(m.UsualS-0.005) > 0.0005 {
		t.Errorf("two times: %+v", m)
	}
}

// A server is not said to stand still while something of ours did.
func TestOursIsNotTheServers(t *testing.T) {
	l := server{pausing(11*second/2, 3*second/2), 200, 20}.load(1, 30)
	for i := range l.Turns {
		l.Turns[i].Stood = [][2]int64{{l.Turns[i].FromNs, l.Turns[i].ToNs}}
	}
	if c := Of(l, Level); c.Still != nil {
		t.Errorf("stood still: %+v", c.Still)
	}
}

// rates are a load's turns with such figures.
func rates(xs []float64) Load {
	l := Load{Arm: "server"}
	for i, x := range xs {
		l.Turns = append(l.Turns, Turn{Block: i + 1, FromNs: int64(i) * second, ToNs: int64(i+1) * second, PerS: x, Rated: true})
	}
	return l
}

// readings are so many of a rate of 1000/s with noise of which neighbours are alike.
func readings(r *rand.Rand, n int, noise, alike float64) []float64 {
	xs, x := make([]float64, n), r.NormFloat64()
	for i := range xs {
		xs[i] = 1000 * max(0, 1+noise*x)
		x = alike*x + math.Sqrt(1-alike*alike)*r.NormFloat64()
	}
	return xs
}

// Of readings that do not change at most 1 % are said to, whatever their noise is like.
func TestFalseAlarms(t *testing.T) {
	rounds := 800 * seeds()
	r := rand.New(rand.NewPCG(3, 5))
	for _, n := range []int{8, 12, 30, 60} {
		for name, draw := range map[string]func() []float64{
			"iid":                func() []float64 { return readings(r, n, 0.1, 0) },
			"alike by 0.3":       func() []float64 { return readings(r, n, 0.1, 0.3) },
			"alike by 0.5":       func() []float64 { return readings(r, n, 0.1, 0.5) },
			"heavy tails":        func() []float64 { return tails(readings(r, n, 0.1, 0.5)) },
			"pauses of 1.5 s":    func() []float64 { return paused(r, n, 2+8*r.Float64(), 1.5) },
			"pauses of 0.3–3 s":  func() []float64 { return paused(r, n, 3+6*r.Float64(), 0.3+2.7*r.Float64()) },
			"pauses at any time": func() []float64 { return atRandom(r, n) },
		} {
			found := 0
			for range rounds {
				xs := draw()
				if _, size := largestStep(xs); size > critical(n, Level) {
					found++
				}
			}
			share := float64(found) / float64(rounds)
			t.Logf("%d readings, %s: %.2f %%", n, name, 100*share)
			if share > 0.01+3*math.Sqrt(0.01/float64(rounds)) {
				t.Errorf("%d readings, %s: %.2f %% are called a change, want at most 1 %%", n, name, 100*share)
			}
		}
	}
}

func tails(xs []float64) []float64 {
	for i, x := range xs {
		xs[i] = math.Exp(8 * x / 1000)
	}
	return xs
}

// paused are the rates of turns of 1 s of a server that stands still every so many seconds.
func paused(r *rand.Rand, n int, everyS, standsS float64) []float64 {
	xs, phase := readings(r, n, 0.03, 0.3), everyS*r.Float64()
	for i := range xs {
		const parts = 50
		runs := 0.0
		for p := range parts {
			if at := math.Mod(float64(i)+(float64(p)+0.5)/parts+phase, everyS+standsS); at > standsS {
				runs += 1.0 / parts
			}
		}
		xs[i] *= runs
	}
	return xs
}

// atRandom are rates of a server that stands still for one turn now and then.
func atRandom(r *rand.Rand, n int) []float64 {
	xs, share := readings(r, n, 0.03, 0.3), 0.05+0.3*r.Float64()
	for i := range xs {
		if r.Float64() < share {
			xs[i] *= r.Float64()
		}
	}
	return xs
}

func TestPower(t *testing.T) {
	const rounds = 500
	r := rand.New(rand.NewPCG(3, 6))
	for name, c := range map[string]struct {
		least float64
		n     int
		by    func(at float64) float64 // of the way through the run
	}{
		"cold start of a tenth":    {0.99, 30, func(at float64) float64 { return 1 - 0.9*step01(0.1-at) }},
		"cold start of 40 %":       {0.99, 30, func(at float64) float64 { return 1 - 0.9*step01(0.4-at) }},
		"cold start, by and by":    {0.99, 30, func(at float64) float64 { return 1 - 0.9*math.Exp(-at*8) }},
		"cold start, 12 turns":     {0.9, 12, func(at float64) float64 { return 1 - 0.9*step01(0.3-at) }},
		"leak to a half":           {0.99, 30, func(at float64) float64 { return 1 - at/2 }},
		"throttled to a half":      {0.99, 30, func(at float64) float64 { return 1 - 0.5*step01(at-0.6) }},
		"throttled near the end":   {0.95, 30, func(at float64) float64 { return 1 - 0.5*step01(at-0.85) }},
		"throttled of a long load": {0.99, 60, func(at float64) float64 { return 1 - 0.3*step01(at-0.5) }},
	} {
		found := 0
		for range rounds {
			xs := readings(r, c.n, 0.05, 0.3)
			for i := range xs {
				xs[i] *= c.by((float64(i) + 0.5) / float64(c.n))
			}
			if changeOf(rates(xs), Level) != nil {
				found++
			}
		}
		t.Logf("%s: %.1f %%", name, 100*float64(found)/float64(rounds))
		if float64(found)/float64(rounds) < c.least {
			t.Errorf("%s: found in %.1f %%, want %.0f %%", name, 100*float64(found)/float64(rounds), 100*c.least)
		}
	}
}

func step01(x float64) float64 {
	if x > 0 {
		return 1
	}
	return 0
}
