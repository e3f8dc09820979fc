package compare

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
)

// busy is a machine on which others come in bursts of 2 to 12 trials and use up to 70 % of
// the CPUs, and where an exchange costs more by half of what they use. An arm and a baseline
// that runs twice in each block are measured there.
type busy struct {
	blocks int
	ratio  float64 // of the arm's cost to the baseline's
	sd     float64 // of a trial's logarithm
	drawn  float64 // chance that others are gone beside the baseline, though a burst goes on
}

var perExchange = metric.Shown(metric.OfServer + metric.CPUPerExchange)

func (s busy) trials(rng *rand.Rand) (arm, base []*trial.Trial) {
	left, share, burst := 0, 0.0, rng.IntN(2) == 0
	for block := range s.blocks {
		for _, who := range rng.Perm(3) { // the arm, the baseline, its repeat
			if left == 0 {
				left, share, burst = 2+rng.IntN(11), 0, !burst
				if burst {
					share = 0.7 * rng.Float64()
				}
			}
			left--
			theirs := share
			if theirs > 0 {
				theirs = max(theirs+0.03*rng.NormFloat64(), 0)
			}
			if who > 0 && rng.Float64() < s.drawn {
				theirs = 0
			}
			cost := 0.5*theirs + s.sd*rng.NormFloat64()
			t := &trial.Trial{Block: block, Repeat: who == 2, Status: trial.Valid, Beside: theirs}
			if who > 0 {
				base = append(base, t)
			} else {
				arm, cost = append(arm, t), cost+math.Log(s.ratio)
			}
			t.Values = metric.ValuesOf(map[string]float64{perExchange.Name: math.Exp(cost)})
		}
	}
	return arm, base
}

// study judges a study of the two, by equal shares or as the ratios come.
func (s busy) study(rng *rand.Rand, equal bool) *Pending {
	arm, base := s.trials(rng)
	b := &Pending{
		Comparison: Comparison{Metric: perExchange.Name, Level: cells.Level, Blocks: s.blocks, Bound: DefaultMargin},
		Pairs:      Divide(cells.PoolOf(slices.Values(arm), perExchange.Name), cells.PoolOf(slices.Values(base), perExchange.Name)),
		Better:     metric.Lower, Margin: DefaultMargin,
	}
	if equal {
		b.Pairs.atEqualShares(perExchange.Name, slices.Values(arm), slices.Values(base))
	}
	b.Effect, _ = b.Pairs.Mean()
	if b.Pairs.beside.apart {
		b.Refusal = "others"
	}
	ShareLevel([]*Pending{b})
	b.Judge()
	return b
}

// shares are those of many studies that told the two apart, and whose interval missed.
func (s busy) shares(equal bool) (told, missed float64) {
	const studies = 1000
	for seed := range uint64(studies) {
		b := s.study(rand.New(rand.NewPCG(seed, 9)), equal)
		told += float64(oneIf(b.Verdict == Better || b.Verdict == Worse)) / studies
		missed += float64(oneIf(b.Verdict != Invalid && (b.Low > s.ratio || b.High < s.ratio))) / studies
	}
	return told, missed
}

// Equal arms beside bursts of others are seldom told apart, also where the bursts come beside
// one of the two more often, which the ratios as they come take for a difference; intervals
// keep their confidence. A true twentieth is told more often than by the ratios as they come.
func TestOthersFalsifyNoVerdict(t *testing.T) {
	for _, blocks := range []int{6, 10, 16} {
		for _, sd := range []float64{0.01, 0.03} {
			for _, drawn := range []float64{0, 0.7} {
				null := busy{blocks, 1, sd, drawn}
				plain, _ := null.shares(false)
				told, missed := null.shares(true)
				t.Logf("%2d blocks, sd %.2f, drawn %.1f: equal arms told apart in %.1f %% of studies, %.1f %% at equal shares, where %.1f %% of intervals miss",
					blocks, sd, drawn, 100*plain, 100*told, 100*missed)
				if told > 0.05 || missed > 0.07 {
					t.Errorf("%+v: told apart in %.3f, missed in %.3f", null, told, missed)
				}
				if drawn > 0 && blocks > 6 && plain < 0.1 {
					t.Errorf("%+v: ratios as they come err in %.3f only, so that this shows nothing", null, plain)
				}
			}
			twentieth := busy{blocks, 1.05, sd, 0}
			plain, _ := twentieth.shares(false)
			told, missed := twentieth.shares(true)
			t.Logf("%2d blocks, sd %.2f: a twentieth is told in %.0f %% of studies, %.0f %% at equal shares", blocks, sd, 100*plain, 100*told)
			if told < 1.3*plain || missed > 0.07 {
				t.Errorf("%+v: told in %.3f, as they come in %.3f; missed in %.3f", twentieth, told, plain, missed)
			}
		}
	}
}

// The line is that of least squares, and its value at 0 has the error of an intercept; worked
// out apart from this code.
func TestEqualSharesAreAnIntercept(t *testing.T) {
	p := Pairs{}
	for block, effect := range []float64{0.10, 0.02, 0.16, 0.05} {
		p.addRatio(block, math.Exp(effect))
	}
	p.fit([]float64{0.2, 0, 0.3, -0.1})
	u, ok := p.Mean()
	if !ok || math.Abs(u.Point-0.0525) > 1e-12 || math.Abs(u.Error-0.019953069939234916) > 1e-12 || u.Degrees != 2 {
		t.Errorf("%+v", u)
	}
}

// Ratios at equal shares are one thing: their mean is the ratio, and that is the quotient of
// its two figures. Where others are alike, or their shares are not known, nothing changes.
func TestEqualSharesAgree(t *testing.T) {
	s := busy{blocks: 10, ratio: 1.2, sd: 0.02}
	for seed := range uint64(50) {
		b := s.study(rand.New(rand.NewPCG(seed, 1)), true)
		if ratio := b.Pairs.Value / b.Pairs.Base; math.Abs(ratio/b.Ratio-1) > 1e-9 || b.Low > b.Ratio || b.High < b.Ratio {
			t.Errorf("seed %d: %v of %v–%v, and the figures' is %v", seed, b.Ratio, b.Low, b.High, ratio)
		}
		arm, base := s.trials(rand.New(rand.NewPCG(seed, 1)))
		for _, x := range slices.Concat(arm, base) {
			x.Beside = 0.3
		}
		p := Divide(cells.PoolOf(slices.Values(arm), perExchange.Name), cells.PoolOf(slices.Values(base), perExchange.Name))
		before := slices.Clone(p.Effects)
		if p.atEqualShares(perExchange.Name, slices.Values(arm), slices.Values(base)); p.beside.fitted || p.beside.apart || !slices.Equal(before, p.Effects) {
			t.Errorf("seed %d: where others are alike the pairs became %+v", seed, p)
		}
	}
}

// Where no block had as many others beside one arm as beside the other, no line tells what is
// theirs.
func TestOthersBesideOneArmAlone(t *testing.T) {
	for _, c := range []struct {
		arm, base     []float64 // shares by block
		apart, fitted bool
	}{
		{[]float64{0.6, 0.5, 0.7, 0.6}, []float64{0.05, 0, 0.1, 0.05}, true, false},
		{[]float64{0, 0, 0.1, 0.05}, []float64{0.6, 0.5, 0.7, 0.6}, true, false},
		{[]float64{0.6, 0.5, 0.7, 0.1}, []float64{0.05, 0, 0.1, 0.08}, false, true}, // one block tells
		{[]float64{0.08, 0.07, 0.09, 0.08}, []float64{0, 0, 0, 0}, false, false},    // too little to be told
	} {
		var pools [2]*cells.Pool
		var all [2][]*trial.Trial
		for i, shares := range [][]float64{c.arm, c.base} {
			for block, share := range shares {
				all[i] = append(all[i], &trial.Trial{Block: block, Status: trial.Valid, Beside: share, Values: metric.ValuesOf(map[string]float64{perExchange.Name: 10 + share})})
			}
			pools[i] = cells.PoolOf(slices.Values(all[i]), perExchange.Name)
		}
		p := Divide(pools[0], pools[1])
		p.atEqualShares(perExchange.Name, slices.Values(all[0]), slices.Values(all[1]))
		if p.beside.apart != c.apart || p.beside.fitted != c.fitted {
			t.Errorf("%v beside one, %v beside the other: %+v", c.arm, c.base, p.beside)
		}
	}
}

// tail is an alternated arm's trials of 400 requests, of which 3 in 100 take the time held;
// where others take the CPUs, in some blocks, one in 25 takes 20 ms.
func tail(rng *rand.Rand, held float64, beside []float64) []*trial.Trial {
	all := make([]*trial.Trial, len(beside))
	for block, share := range beside {
		h := hist.New()
		for range 400 {
			ms := 0.15
			if rng.IntN(100) < 3 {
				ms = held
			}
			if share >= trial.LeastOfOthers && rng.IntN(25) == 0 {
				ms += 20 * rng.Float64()
			}
			h.Record(int64(1e6*ms*(0.98+0.04*rng.Float64())), 1)
		}
		all[block] = &trial.Trial{Block: block, Status: trial.Valid, Alternated: true, Beside: share, Times: trial.TimesOf(h.Pack())}
	}
	return all
}

// Tails are judged by the blocks that others left quiet: a tenth is told, and equal arms are
// not told apart.
func TestTailsOfQuietBlocks(t *testing.T) {
	const studies, blocks = 60, 32
	name := metric.ServiceP99
	for _, ratio := range []float64{1, 1.1} {
		told, missed, whole := 0, 0, 0
		for seed := range uint64(studies) {
			rng := rand.New(rand.NewPCG(seed, 11))
			beside := make([]float64, blocks)
			for i := range beside {
				if i%3 == 0 {
					beside[i] = 0.1 + 0.6*rng.Float64()
				}
			}
			ours, theirs := slices.Values(tail(rng, 5*ratio, beside)), slices.Values(tail(rng, 5, beside))
			differs := func(p Pairs) (told, missed int) {
				e, ok := p.EstimateAt(cells.Level)
				return oneIf(ok && (e.Low > 1+DefaultMargin || e.High < 1/(1+DefaultMargin))), oneIf(!ok || e.Low > ratio || e.High < ratio)
			}
			quiet := quietBlocks(name, ours, theirs)
			if len(quiet) < leastQuiet || slices.ContainsFunc(slices.Collect(maps.Keys(quiet)), func(block int) bool { return beside[block] > 0 }) {
				t.Fatalf("study %d: quiet blocks %v beside %v", seed, quiet, beside)
			}
			a, b := differs(Divide(cells.PoolOf(within(quiet, ours), name), cells.PoolOf(within(quiet, theirs), name)))
			told, missed = told+a, missed+b
			a, _ = differs(Divide(cells.PoolOf(ours, name), cells.PoolOf(theirs, name)))
			whole += a
		}
		t.Logf("ratio %g: told in %d of %d studies, missed in %d; by all blocks told in %d", ratio, told, studies, missed, whole)
		if missed > studies/12 || ratio == 1 && told > studies/20 || ratio > 1 && told < studies*9/10 {
			t.Errorf("ratio %g: told in %d of %d studies, missed in %d", ratio, told, studies, missed)
		}
	}
	rng := rand.New(rand.NewPCG(1, 1))
	calm := slices.Values(tail(rng, 5, make([]float64, blocks)))
	beside := make([]float64, blocks)
	for i := range beside[:blocks-leastQuiet+1] {
		beside[i] = 0.5
	}
	busy := slices.Values(tail(rng, 5, beside))
	alone := tail(rng, 5, beside)
	alone[0].Alternated = false
	for what, quiet := range map[string]map[int]bool{
		"all blocks are quiet":    quietBlocks(name, calm, calm),
		"too few are":             quietBlocks(name, calm, busy),
		"the arms did not mingle": quietBlocks(name, calm, slices.Values(alone)),
		"it is no tail":           quietBlocks(perExchange.Name, calm, busy),
	} {
		if quiet != nil {
			t.Errorf("%s, and blocks were chosen: %v", what, quiet)
		}
	}
}
