package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

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
