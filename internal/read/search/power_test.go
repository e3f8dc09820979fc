package search

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// outcomeOf is what becomes of a window: told is false of one that failed or is invalid.
type outcomeOf func(random *rand.Rand, rate float64) (met, told bool)

// searched carries a search out whose windows may tell nothing.
func searched(seed uint64, server outcomeOf) Arm {
	random := rand.New(rand.NewPCG(seed, 3))
	closed := &trial.Judged{Trial: trial.Trial{Limit: trial.ServerCPU, Values: metric.ValuesOf(map[string]float64{"exchanges_per_s": 1300})}}
	a := &series{RateSearch: searchFor(5e-3, 1300), closed: closed, judged: map[string]*trial.Judged{}}
	for block := 2; ; block++ {
		step, why := a.step()
		if why != "" {
			return a.read()
		}
		t := Try{ID: fmt.Sprintf("b%02d", block), Block: block, Rate: step.Rate, Window: step.Window.Seconds(), Seconds: (step.Window + step.Warmup).Seconds() + 0.15}
		var told bool
		if t.Met, told = server(random, step.Rate); told {
			if !t.Met {
				t.Why = "response p99 12 ms"
			}
			a.judged[t.ID] = &trial.Judged{Trial: trial.Trial{Limit: trial.Schedule}}
			a.Add(t)
			continue
		}
		t.Why = "it failed: the server ended"
		a.untold, a.UsedS = append(a.untold, t), a.UsedS+t.Seconds
	}
}

// below meets an objective below a rate, and tells nothing with a probability.
func below(capacity, fails float64) outcomeOf {
	return func(random *rand.Rand, rate float64) (met, told bool) {
		return rate < capacity*(1+0.02*random.NormFloat64()), random.Float64() >= fails
	}
}

// Windows that fail, or contradict each other, never say that a server carries nothing,
// nor a capacity that it does not have.
func TestNoWindowsNoVerdict(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: dozens of simulated searches")
	}
	for name, c := range map[string]struct {
		server    outcomeOf
		capacity  float64 // 0: there is none to be found
		undecided float64 // share of the searches, at least
		none      int     // searches at most: a coin falls so eight times in 1 of 256
	}{
		"every window fails": {below(1000, 1), 0, 1, 0},
		"half fail":          {below(1000, 0.5), 1000, 0, 0},
		"one in five fails":  {below(1000, 0.2), 1000, 0, 0},
		"two states": {func(random *rand.Rand, rate float64) (bool, bool) {
			return rate < []float64{300, 1200}[random.IntN(2)], true
		}, 0, 0.5, 0},
		"a coin":     {func(random *rand.Rand, _ float64) (bool, bool) { return random.IntN(2) == 0, true }, 0, 0.9, 1},
		"none fails": {below(1000, 0), 1000, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := 6
			if os.Getenv("NETDYNO_SOAK") != "" {
				n = 100
			}
			undecided, wrong, none := 0, 0, 0
			for seed := range uint64(n) {
				arm := searched(seed, c.server)
				switch {
				case arm.Fate == Nothing:
					none++
				case arm.Figure == nil && (arm.Why == "" || arm.Cure == ""):
					t.Fatalf("seed %d: why %q, cure %q", seed, arm.Why, arm.Cure)
				case arm.Figure == nil:
					undecided++
				case c.capacity > 0 && (arm.Figure.Low > c.capacity || arm.Fate != AtLeast && arm.Figure.High < c.capacity):
					wrong++
				}
			}
			t.Logf("of %d: undecided %d, beside the capacity %d, nothing carried %d", n, undecided, wrong, none)
			if none > c.none || float64(undecided) < c.undecided*float64(n) || wrong > 1+n/20 || c.capacity > 0 && undecided > 1+n/5 {
				t.Errorf("of %d searches undecided %d, beside the capacity %d, nothing carried %d", n, undecided, wrong, none)
			}
		})
	}
}

// A rate at which every window fails is gone around: what the server carries below it is
// still found.
func TestASearchGoesAroundWhatFails(t *testing.T) {
	for name, c := range map[string]struct {
		fails float64 // from this rate on
		least float64 // of what it carries at the least
	}{"above the first rate": {1000, 910}, "at the first rate": {700, 560}} {
		arm := searched(1, func(_ *rand.Rand, rate float64) (bool, bool) { return true, rate < c.fails })
		if arm.Fate != AtLeast || arm.Figure.Value < c.least || arm.Figure.Value >= c.fails || arm.Trials == len(arm.Tries) {
			t.Errorf("%s: %+v, %q", name, arm.Figure, arm.Why)
		}
	}
}

// That no rate meets an objective takes windows that all missed it, at the lowest rate too.
func TestNothingIsCarriedOnlyByProof(t *testing.T) {
	arm := searched(1, func(*rand.Rand, float64) (bool, bool) { return false, true })
	if arm.Fate != Nothing || len(arm.Tries) < leastMissed || !strings.HasPrefix(arm.Why, "each of 8 windows that tell missed it; at 325/s") {
		t.Errorf("%s after %d windows: %q", arm.Fate, len(arm.Tries), arm.Why)
	}
	a := &series{RateSearch: searchFor(5e-3, 1300), closed: &trial.Judged{}}
	for _, rate := range []float64{910, 455} {
		a.Add(Try{Rate: rate, Why: "late"})
	}
	if fate, why := a.nothing(); fate == Nothing || why == "" {
		t.Errorf("after two windows: %s, %q", fate, why)
	}
}

// One miss beside hits at higher rates decides nothing: something disturbed the machine.
func TestOneMissContradictsNothing(t *testing.T) {
	var tries []Try
	for i := range 14 {
		rate := 360 + 10*float64(i)
		tries = append(tries, Try{Rate: rate, Met: rate < 426, Window: 4})
	}
	tries = inParts(append(tries, Try{Rate: 325, Window: 4}))
	p, _ := known(tries)
	if why := undecided(tries, p); why != "" || otherWay(tries) != 1 {
		t.Errorf("%d windows fit no threshold: %q", otherWay(tries), why)
	}
	if why := undecided([]Try{{Rate: 325}, {Rate: 419, Met: true}}, posterior{}); !strings.Contains(why, "2 windows that tell are too few") {
		t.Error(why)
	}
}

// Failed and invalid trials are no evidence against a server, but for those in which it
// is the server that failed exchanges.
func TestFailedTrialsTellNothing(t *testing.T) {
	errorsCheck := 0
	for trial.Checks()[errorsCheck].Name != "errors" {
		errorsCheck++
	}
	objective := []record.Bound{{Metric: "response_p99_us", Value: 1e4}}
	failed := func(kind contract.ErrorKind, passed int, stalls ...trial.Stall) *trial.Judged {
		result := &contract.Result{Counts: contract.Counts{Errors: map[contract.ErrorKind]int64{kind: 7}}}
		return &trial.Judged{
			Passed: passed, Trial: trial.Trial{Status: trial.StatusInvalid, Errors: 7, Reason: "7 exchanges failed", Stalls: stalls},
			Record: &record.Record{Workers: []record.Worker{{Result: result}}},
		}
	}
	plain := func(status string) *trial.Judged {
		return &trial.Judged{Passed: len(trial.Checks()), Record: &record.Record{}, Trial: trial.Trial{Status: status, Reason: "R", Values: metric.ValuesOf(map[string]float64{"response_p99_us": 2e4})}}
	}
	for name, c := range map[string]struct {
		of   *trial.Judged
		told bool
	}{
		"failed": {plain(trial.StatusFailed), false}, "invalid": {plain(trial.StatusInvalid), false}, "valid": {plain(trial.Valid), true},
		"the server's errors": {failed(contract.Peer, errorsCheck), true}, "our errors": {failed(contract.Bug, errorsCheck), false},
		"errors of a client without a result": {failed(contract.Peer, 0), false}, "errors beside a standstill": {failed(contract.Peer, errorsCheck, trial.Stall{}), false},
	} {
		if told, why := judged(objective, c.of); told != c.told || why == "" {
			t.Errorf("%s: told %v, %q", name, told, why)
		}
	}
}

// Far below what the closed loop does its limit says nothing.
func TestTheClosedLoopLimitsOnlyNearby(t *testing.T) {
	closed := &trial.Judged{Plan: record.Trial{ID: "b01"}, LimitOf: contract.Server, Trial: trial.Trial{Limit: trial.ServerCPU, LimitProof: "full", Values: metric.ValuesOf(map[string]float64{"exchanges_per_s": 1300})}}
	if limit, of, _ := limitAt(nil, nil, 1000, closed); limit != trial.ServerCPU || of != contract.Server {
		t.Errorf("near it: %s", limit)
	}
	if limit, of, proof := limitAt(nil, nil, 300, closed); limit != trial.Unknown || of != "" || !strings.Contains(proof, "no window") {
		t.Errorf("far below it: %s of %q, %s", limit, of, proof)
	}
}
