package cells_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/test/synthetic"
)

// blockSources draw the times of a block, in ns.
var blockSources = []struct {
	name  string
	least float64 // coverage that is asked of each percentile at each number of blocks
	draw  func(*rand.Rand) *hist.Histogram
}{
	{"lognormal, blocks that drift by 3 %", 0.93, func(rng *rand.Rand) *hist.Histogram {
		return timesOf(1000, rng, math.Exp(0.03*rng.NormFloat64()), func() float64 { return math.Exp(0.5 * rng.NormFloat64()) })
	}},
	{"Pareto, 1,000 a block", 0.93, func(rng *rand.Rand) *hist.Histogram {
		return timesOf(1000, rng, 1, func() float64 { return math.Pow(rng.Float64(), -1/1.2) })
	}},
	{"Pareto, 200 a block", 0.93, func(rng *rand.Rand) *hist.Histogram {
		return timesOf(200, rng, 1, func() float64 { return math.Pow(rng.Float64(), -1/1.2) })
	}},
	{"a pause of 1.5 s every 4 s", 0.93, func(rng *rand.Rand) *hist.Histogram {
		return pausing(rng, synthetic.Pauses(5*time.Millisecond, time.Duration(4e9*rng.Float64())-4*time.Second, 4*time.Second, 1500*time.Millisecond))
	}},
	{"one in 50 takes 1 s", 0.93, func(rng *rand.Rand) *hist.Histogram {
		return timesOf(1000, rng, 1, func() float64 { return 5 + 1000*float64(oneIn(rng, 50)) })
	}},
	{"one in 100 takes 1 s", 0.93, func(rng *rand.Rand) *hist.Histogram {
		return timesOf(1000, rng, 1, func() float64 { return 5 + 1000*float64(oneIn(rng, 100)) })
	}},
	// What six blocks have not seen in one case of eleven no interval of theirs holds; two
	// alike are not told apart by it.
	{"a pause of 0.2 s in one block of three", 0.8, func(rng *rand.Rand) *hist.Histogram {
		first := 10 * time.Second
		if oneIn(rng, 3) > 0 {
			first = time.Duration(2e9 * rng.Float64())
		}
		return pausing(rng, synthetic.Pauses(5*time.Millisecond, first, time.Minute, 200*time.Millisecond))
	}},
}

func oneIn(rng *rand.Rand, n int) int {
	if rng.IntN(n) == 0 {
		return 1
	}
	return 0
}

// timesOf draws n times in ms, each within a tenth of what is drawn.
func timesOf(n int, rng *rand.Rand, drift float64, draw func() float64) *hist.Histogram {
	h := hist.New()
	for range n {
		h.Record(int64(1e6*drift*draw()*(0.95+0.1*rng.Float64())), 1)
	}
	return h
}

// pausing draws a window of 2 s of 500 requests a second.
func pausing(rng *rand.Rand, service func(float64) float64) *hist.Histogram {
	at := 0.0
	return timesOf(1000, rng, 1, func() float64 { at += 2e-3; return 1e3 * service(at) })
}

// armOf are the valid trials of a run whose blocks have these times.
func armOf(blocks []hist.Packed) *cells.Arm {
	a := &cells.Arm{Trials: make([]trial.Trial, len(blocks))}
	for i, times := range blocks {
		a.Trials[i] = trial.Trial{Block: i + 1, Status: trial.Valid, Times: trial.TimesOf(times)}
	}
	return a
}

// The interval of a percentile of the whole run holds that of all runs in 93 % of runs, and
// that of the ratio of two like arms holds 1 in 95 %.
func TestWholeCoverage(t *testing.T) {
	const drawn = 300
	for _, s := range blockSources {
		rng := rand.New(rand.NewPCG(9, 7))
		blocks := make([]hist.Packed, drawn)
		for i := range blocks {
			blocks[i] = s.draw(rng).Pack()
		}
		truth := hist.Unpack(blocks...)
		run := func(n int) *cells.Arm {
			some := make([]hist.Packed, n)
			for i := range some {
				some[i] = blocks[rng.IntN(drawn)]
			}
			return armOf(some)
		}
		for _, n := range []int{6, 12, 36} {
			runs := 1800 / n
			scatter := 2 * math.Sqrt(0.05*0.95/float64(runs))
			covered, shown, apart := map[string]int{}, map[string]int{}, map[string]int{}
			for range runs {
				a, b := run(n), run(n)
				for _, p := range metric.Percentiles[:4] {
					name := metric.PercentileName("service", p.Name)
					one, other := cells.PoolOf(a.All(), name), cells.PoolOf(b.All(), name)
					f, ok := one.Figure()
					if !ok {
						continue
					}
					shown[name]++
					want, _ := truth.Percentile(p.Share)
					if us := float64(want) / 1e3; f.Low <= 1.001*us && us <= 1.001*f.High || !f.Sure() {
						covered[name]++
					}
					if whole, _ := truthOf(a).Percentile(p.Share); math.Abs(f.Value*1e3-float64(whole)) > 1 || f.Low > f.Value || f.High < f.Value {
						t.Fatalf("%s: %s is %v (%v to %v), that of the whole run %v", s.name, name, f.Value, f.Low, f.High, whole)
					}
					pairs := compare.Divide(one, other)
					e, _ := pairs.Estimate()
					if cells.Known(n, e.Point, e.Low, e.High) && (e.Low > 1.001 || e.High < 0.999) {
						apart[name]++
					}
					if g, both := other.Figure(); both && math.Abs(e.Point/(f.Value/g.Value)-1) > 1e-9 {
						t.Fatalf("%s: a ratio of %v beside %v and %v", s.name, e.Point, f.Value, g.Value)
					}
				}
			}
			for _, p := range metric.Percentiles[:4] {
				name := metric.PercentileName("service", p.Name)
				c, d := float64(covered[name])/float64(shown[name]), float64(apart[name])/float64(shown[name])
				t.Logf("%-40s %-4s %2d blocks: coverage %.1f %%, two alike told apart %.1f %%", s.name, p.Label, n, 100*c, 100*d)
				if shown[name] > 0 && (c < s.least-scatter || d > 0.05+scatter) {
					t.Errorf("%s, %s of %d blocks: coverage %.3f, want %v; two alike told apart in %.3f", s.name, name, n, c, s.least, d)
				}
			}
		}
	}
}

func truthOf(a *cells.Arm) *hist.Histogram {
	var all []hist.Packed
	for v := range a.All() {
		times, _ := v.Times.Of("service")
		all = append(all, times)
	}
	return hist.Unpack(all...)
}

// A busy machine ends one turn late, so that the next is short, and what a server held back
// comes in that.
func TestARateOfTurnsIsWhatWasDoneByTheTimeOfThemAll(t *testing.T) {
	var trials []trial.Trial
	for i, turn := range []struct{ seconds, done float64 }{{1, 200}, {1.9, 180}, {0.1, 220}, {1, 200}} {
		trials = append(trials, trial.Trial{
			Block: i + 1, Status: trial.Valid, TurnS: turn.seconds,
			Values: metric.ValuesOf(map[string]float64{metric.ExchangesPerS: turn.done / turn.seconds}),
		})
	}
	f, ok := cells.PoolOf((&cells.Arm{Trials: trials}).All(), metric.ExchangesPerS).Figure()
	if !ok || math.Abs(f.Value-200) > 1e-9 {
		t.Errorf("the rate is %v, expected 200", f)
	}
}
