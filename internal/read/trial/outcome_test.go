package trial_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// oneIn is a service of which one request in n takes slow.
func oneIn(rng *rand.Rand, n int, fast, slow float64) func(float64) float64 {
	return func(float64) float64 {
		if rng.IntN(n) == 0 {
			return slow
		}
		return fast * (0.9 + 0.2*rng.Float64())
	}
}

// slowServices are what servers do that are slow, each drawn anew.
var slowServices = []struct {
	name string
	make func(*rand.Rand) func(float64) float64
}{
	{"constant 2 s", func(*rand.Rand) func(float64) float64 { return func(float64) float64 { return 2 } }},
	{"one in ten takes 1 s", func(rng *rand.Rand) func(float64) float64 { return oneIn(rng, 10, 2e-3, 1) }},
	{"bimodal 5 and 500 ms", func(rng *rand.Rand) func(float64) float64 { return oneIn(rng, 2, 5e-3, 0.5) }},
	{"a pause of 1.5 s every 4 s", func(rng *rand.Rand) func(float64) float64 {
		return synthetic.Pauses(2*time.Millisecond, time.Duration(4e9*rng.Float64())-2*time.Second, 4*time.Second, 1500*time.Millisecond)
	}},
	{"a pause through the whole window", func(*rand.Rand) func(float64) float64 {
		return synthetic.Pauses(2*time.Millisecond, 200*time.Millisecond, time.Minute, 4*time.Second)
	}},
	{"a pause that outlasts draining", func(*rand.Rand) func(float64) float64 {
		return synthetic.Pauses(2*time.Millisecond, 200*time.Millisecond, time.Minute, 20*time.Second)
	}},
	{"Pareto", func(rng *rand.Rand) func(float64) float64 {
		return func(float64) float64 { return 1e-3 * math.Pow(rng.Float64(), -1/1.2) }
	}},
	{"throttled to 200 a second", func(*rand.Rand) func(float64) float64 {
		free := 0.0
		return func(at float64) float64 { free = max(free, at) + 1.0/200; return free - at }
	}},
	{"warming", func(*rand.Rand) func(float64) float64 {
		return func(at float64) float64 { return 2e-3 + 0.1*math.Exp(-at) }
	}},
	{"slow start", func(*rand.Rand) func(float64) float64 {
		return func(at float64) float64 { return max(0, 0.6-at) + 2e-3 }
	}},
	{"answers of 429", func(rng *rand.Rand) func(float64) float64 { return oneIn(rng, 10, 2e-3, 4e-3) }},
}

// What a server does is a figure of the trial, never a reason to drop it or a rate of it.
func TestNoOutcomeDropsATrial(t *testing.T) {
	for _, load := range []synthetic.Options{{}, {Rate: 100}, {Rate: 600}} {
		load.Window = 2 * time.Second
		for _, s := range slowServices {
			lost := map[string]int{}
			for seed := range uint64(10) {
				judged := examined(t, load, func(r *record.Record) {
					r.Workers[1].Setup.Load.Connections = 8
					synthetic.Serve(r, s.make(rand.New(rand.NewPCG(seed, 3))))
					if c := r.Workers[1].Result; s.name == "answers of 429" {
						r.Trial.Levels["max_errors"] = "50%"
						c.Counts.Errors = map[contract.ErrorKind]int64{contract.Peer: c.Counts.Exchanges / 3}
					}
				})
				rate, rated := judged.Values.Of("exchanges_per_s")
				if judged.Status != trial.Valid || judged.Partial() || !rated || slices.Contains(judged.Flags, trial.Stalled) {
					lost[judged.Status+" "+judged.Reason]++
				}
				if load.Rate > 0 && rate > 1.03*load.Rate {
					t.Errorf("%s: %.4g exchanges/s of %.4g offered", s.name, rate, load.Rate)
				}
			}
			for reason, n := range lost {
				t.Errorf("%s at rate %v: %d of 10 trials lost: %s", s.name, load.Rate, n, reason)
			}
		}
	}
}
