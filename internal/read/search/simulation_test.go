package search

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// meets tells whether a window at a rate meets the objective. At is how much of the
// search's time is gone.
type meets func(random *rand.Rand, rate float64, warmup, window float64, at float64) bool

func searchFor(allowed float64, most float64) RateSearch {
	return RateSearch{
		Spec: record.Capacity{Objective: []record.Bound{{Metric: "response_p99_us", Value: allowed * 1e6}}, Within: 0.1, TimeS: 60},
		Most: most, Window: time.Second, Warmup: 200 * time.Millisecond,
	}
}

// simulate carries a search out against a pretended server.
func simulate(seed uint64, s RateSearch, server meets) RateSearch {
	const starting = 0.15 // seconds that a trial takes besides its load
	random := rand.New(rand.NewPCG(seed, 1))
	for {
		step, why := s.Next()
		if why != "" {
			return s
		}
		warmup, window := step.Warmup.Seconds(), step.Window.Seconds()
		met := server(random, step.Rate, warmup, window, s.UsedS/s.Spec.TimeS)
		s.Add(Try{Rate: step.Rate, Met: met, Window: window, Seconds: warmup + window + starting})
	}
}

// scattered meets the objective below a threshold that may drift; windows of a second
// scatter by a share of the rate.
func noisy(capacity, scatter, drift float64) meets {
	return func(random *rand.Rand, rate, _, window, at float64) bool {
		z := math.Log(rate/capacity) - drift*(at-0.5) + random.NormFloat64()*scatter/math.Sqrt(window)
		return z < 0
	}
}

func queue(q synthetic.Queue, allowed float64) meets {
	return func(random *rand.Rand, rate, warmup, window, _ float64) bool {
		times := q.Responses(random, rate, warmup, window)
		return len(times) > 0 && stat.Quantile(times, 0.99) <= allowed
	}
}

func TestTheIntervalHoldsTheCapacity(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: hundreds of simulated searches")
	}
	mm1 := synthetic.Queue{Servers: 1, Service: 1e-4, Exponential: true, Poisson: true}
	d4 := synthetic.Queue{Servers: 4, Service: 1e-3}
	for _, c := range []struct {
		name           string
		capacity, most float64
		allowed        float64
		server         meets
		within         int // of 100 searches, how many must end with an interval that is narrow enough
	}{
		{"M/M/1, p99 ≤ 5 ms", 1e4 - math.Log(100)/5e-3, 1e4, 5e-3, queue(mm1, 5e-3), 90},
		{"D/D/4", 4000, 4000, 5e-3, queue(d4, 5e-3), 100},
		{"steep", 1000, 1300, 5e-3, noisy(1000, 0.01, 0), 100},
		{"noisy", 1000, 1300, 5e-3, noisy(1000, 0.08, 0), 20},
		{"noisy, far below the closed loop", 1000, 30000, 5e-3, noisy(1000, 0.05, 0), 30},
		{"drifting by 3 %", 1000, 1300, 5e-3, noisy(1000, 0.03, 0.03), 90},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			const runs = 30
			in, narrow := 0, 0
			for seed := range uint64(runs) {
				s := simulate(seed, searchFor(c.allowed, c.most), c.server)
				e, why := s.Found()
				if why != "" {
					continue
				}
				if e.Low <= c.capacity && c.capacity <= e.High {
					in++
				}
				if e.High-e.Low <= 0.1*e.Value {
					narrow++
				}
				if e.Value < e.Low || e.Value > e.High {
					t.Errorf("seed %d: %v lies outside its interval", seed, e)
				}
			}
			t.Logf("%d of %d intervals hold it, %d are at most 10 %% wide", in, runs, narrow)
			if in < runs*93/100 {
				t.Errorf("%d of %d intervals hold the capacity, want 93 %%", in, runs)
			}
			if narrow < runs*c.within/100 {
				t.Errorf("%d of %d intervals are at most 10 %% wide after 60 s", narrow, runs)
			}
		})
	}
}

// What has no single threshold gets a sentence and no number.
func TestContradictionsAreNamed(t *testing.T) {
	for name, c := range map[string]struct {
		server meets
		want   string
	}{
		"two states": {func(random *rand.Rand, rate, _, _, _ float64) bool {
			return rate < []float64{300, 1200}[random.IntN(2)]
		}, "contradict each other"},
		"it warms up": {noisyBy(func(at float64) float64 { return []float64{600, 1000}[min(1, int(at*3))] }), "moved while"},
	} {
		told := 0
		for seed := range uint64(10) {
			s := simulate(seed, searchFor(5e-3, 1300), c.server)
			if _, why := s.Found(); strings.Contains(why, c.want) || strings.Contains(why, "contradict") {
				told++
			}
		}
		if told < 8 {
			t.Errorf("%s: %d of 10 searches say that it has no capacity", name, told)
		}
	}
}

func noisyBy(capacity func(at float64) float64) meets {
	return func(random *rand.Rand, rate, _, _, at float64) bool {
		return rate < capacity(at)*(1+0.01*random.NormFloat64())
	}
}

func TestASearchEndsWhereThereIsNothing(t *testing.T) {
	for name, c := range map[string]struct {
		met       bool
		low, high float64 // between which the last rate lies
	}{"met nowhere": {false, 320, 330}, "met everywhere": {true, 3300, 4000}} {
		s := simulate(1, searchFor(5e-3, 1000), func(*rand.Rand, float64, float64, float64, float64) bool { return c.met })
		last := s.Tries[len(s.Tries)-1].Rate
		if last < c.low || last > c.high || len(s.Tries) > 12 || slices.ContainsFunc(s.Tries, func(t Try) bool { return t.Met != c.met }) {
			t.Errorf("%s: %d windows, the last at %g/s", name, len(s.Tries), last)
		}
		if _, why := s.Found(); why == "" {
			t.Errorf("%s: has a capacity", name)
		}
	}
}

func TestRatio(t *testing.T) {
	one, _ := known(simulate(1, searchFor(5e-3, 1300), noisy(1000, 0.03, 0)).Tries)
	two, _ := known(simulate(2, searchFor(5e-3, 2600), noisy(1500, 0.03, 0)).Tries)
	r := ratio(two, one)
	if r.Low > 1.5 || r.High < 1.5 || r.High/r.Low > 1.25 || r.Point < r.Low || r.Point > r.High {
		t.Errorf("1500 ÷ 1000 is %+v", r)
	}
}

func TestThreeDigits(t *testing.T) {
	for rate, want := range map[float64]float64{41234: 41200, 123.456: 123, 99.96: 100, 1.2345: 1.23, 0.98765: 0.988} {
		if got := threeDigits(rate); math.Abs(got-want) > 1e-12*want {
			t.Errorf("%g is %g, want %g", rate, got, want)
		}
	}
}

// timesAt draws the times of a window.
type timesAt func(random *rand.Rand, rate, warmup, window, at float64) []float64

// searchedByTimes carries out a search for a service p99, in seconds, whose windows have times.
func searchedByTimes(seed uint64, allowed, most float64, times timesAt) Arm {
	s := searchFor(allowed, most)
	s.Spec.Objective[0].Metric = metric.ServiceP99
	a := &series{RateSearch: s, closed: &trial.Judged{Trial: trial.Trial{Values: metric.ValuesOf(map[string]float64{"exchanges_per_s": most})}}, judged: map[string]*trial.Judged{}}
	random := rand.New(rand.NewPCG(seed, 5))
	for block := 2; ; block++ {
		step, why := a.step()
		if why != "" {
			return a.read()
		}
		warmup, window := step.Warmup.Seconds(), step.Window.Seconds()
		h := hist.New()
		for _, x := range times(random, step.Rate, warmup, window, a.UsedS) {
			h.Record(int64(1e9*x), 1)
		}
		p99, _ := h.Percentile(0.99)
		t := Try{ID: fmt.Sprint(block), Block: block, Rate: step.Rate, Met: float64(p99) <= 1e9*allowed, Window: window, Seconds: warmup + window + 0.15}
		a.judged[t.ID] = &trial.Judged{Trial: trial.Trial{Block: block, Status: trial.Valid, Times: trial.TimesOf(h.Pack())}}
		a.Add(t)
	}
}

// A server that stands still for longer than its objective allows carries no rate at all,
// though windows see no pause by chance; a queue that runs on has its capacity as before.
func TestPausesLeaveNoCapacity(t *testing.T) {
	pauses := func(every, lasts time.Duration) timesAt {
		return func(random *rand.Rand, rate, warmup, window, at float64) []float64 {
			const most = 500 // times of a window are enough
			service := synthetic.Pauses(5*time.Millisecond, time.Duration(1e9*random.Float64()*every.Seconds())-every, every, lasts)
			n := int(min(most, rate*window))
			all := make([]float64, n)
			for i := range all {
				all[i] = service(at + warmup + window*float64(i)/float64(n))
			}
			return all
		}
	}
	mm1 := synthetic.Queue{Servers: 1, Service: 1e-3, Exponential: true, Poisson: true}
	carries := 1000 - math.Log(100)/0.1
	for _, c := range []struct {
		name         string
		times        timesAt
		least, found int // of 30 searches that find a capacity
		capacity     float64
	}{
		{"a pause of 1.5 s in 4 s", pauses(4*time.Second, 1500*time.Millisecond), 0, 0, 0},
		{"a pause of 1.5 s in 12 s, of which a search sees five", pauses(12*time.Second, 1500*time.Millisecond), 0, 8, 0},
		{"no pause", func(random *rand.Rand, rate, warmup, window, _ float64) []float64 {
			return mm1.Responses(random, rate, warmup, window)
		}, 27, 30, carries},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			found, beside := 0, 0
			for seed := range uint64(30) {
				arm := searchedByTimes(seed, 0.1, 1000, c.times)
				if arm.Figure == nil {
					continue
				}
				found++
				if arm.Figure.Low > c.capacity || arm.Figure.High < c.capacity {
					beside++
				}
			}
			t.Logf("%d of 30 have a capacity, %d of these beside it", found, beside)
			if found < c.least || found > c.found || c.capacity > 0 && beside > 2 {
				t.Errorf("%d of 30 have a capacity, expected %d to %d; %d beside %g/s", found, c.least, c.found, beside, c.capacity)
			}
		})
	}
}
