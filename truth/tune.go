package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/search"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
	"netdyno/test/races"
)

// pair is a pair of gRPC's server buffers and its rate.
type pair struct {
	arm  string
	rate float64
}

// pairs are the sixteen pairs of gRPC's server buffers (write, read) with their rates as a
// run of 16 blocks on two CPUs had them, divided by their mean: the grid of the study
// buffers, 16 calls of 1 MiB at once on one connection.
var pairs = []pair{
	{"w0-r0", 0.741}, {"w0-r32", 0.818}, {"w0-r128", 0.817}, {"w0-r512", 0.798},
	{"w32-r0", 1.073}, {"w32-r32", 1.077}, {"w32-r128", 1.108}, {"w32-r512", 1.203},
	{"w128-r0", 0.975}, {"w128-r32", 1.017}, {"w128-r128", 1.13}, {"w128-r512", 1.056},
	{"w512-r0", 1.089}, {"w512-r32", 1.03}, {"w512-r128", 1.081}, {"w512-r512", 1.145},
}

// What a race over them may cost: a fifth of every pair in 16 blocks.
const (
	gridBaseline     = "w32-r32" // the library's defaults
	exhaustiveBlocks = 16
	gridExhaustive   = 16 * exhaustiveBlocks
	gridTrials       = gridExhaustive / 5
	gridBlocks       = 22
	gridConfirm      = 6
	near             = 1.05 // of the best
)

// grid is a model of such a study: an arm's rate times what its block does to all arms
// (10 %) times the noise of one trial.
type grid struct {
	rates map[string]float64
	sd    float64
	r     *rand.Rand
	drift map[int]float64
	drawn map[string]map[int]float64
}

func newGrid(r *rand.Rand, sd float64, equal bool) *grid {
	g := &grid{rates: map[string]float64{}, sd: sd, r: r, drift: map[int]float64{}, drawn: map[string]map[int]float64{}}
	for _, p := range pairs {
		g.rates[p.arm], g.drawn[p.arm] = p.rate, map[int]float64{}
		if equal {
			g.rates[p.arm] = 1
		}
	}
	return g
}

func (g *grid) figure(arm string, block int) float64 {
	if g.drift[block] == 0 {
		g.drift[block] = math.Exp(0.1 * g.r.NormFloat64())
	}
	if g.drawn[arm][block] == 0 {
		g.drawn[arm][block] = g.rates[arm] * g.drift[block] * math.Exp(g.sd*g.r.NormFloat64())
	}
	return g.drawn[arm][block]
}

// raced is a race over figures of all pairs in at most so many blocks.
func raced(blocks int, figure func(arm string, block int) float64) races.Result {
	arms := each.Of(pairs, func(p pair) string { return p.arm })
	return races.Replay{
		Arms: arms, Baseline: gridBaseline, Margin: 0.02, Blocks: blocks, Figure: figure,
		Race: record.Race{Best: metric.ExchangesPerS, Confirm: gridConfirm, TimeS: gridTrials},
	}.Run()
}

// replayed counts the races of which the winner, and of which what was recommended, comes
// within 5 % of the best, and the most trials that one took.
func replayed(runs int, sd float64) (won, recommended, most int) {
	r := rand.New(rand.NewPCG(17, uint64(1e6*sd)))
	best := 0.0
	for _, p := range pairs {
		best = max(best, p.rate)
	}
	for range runs {
		g := newGrid(r, sd, false)
		found := raced(gridBlocks, g.figure)
		won += oneIf(found.Winner != "" && g.rates[found.Winner]*near >= best)
		recommended += oneIf(g.rates[found.Recommended]*near >= best)
		most = max(most, found.Trials)
	}
	return won, recommended, most
}

// unmoved counts the races among equal pairs that keep the defaults.
func unmoved(runs int, sd float64) (kept int) {
	r := rand.New(rand.NewPCG(18, uint64(1e6*sd)))
	for range runs {
		kept += oneIf(raced(gridBlocks, newGrid(r, sd, true).figure).Recommended == gridBaseline)
	}
	return kept
}

// tuned races settings whose rates are known, settings that are equal, and real ones.
func tuned(ctx context.Context, p *pipeline) ([]answer, error) {
	const runs = 1000
	var answers []answer
	for _, sd := range []float64{0.02, 0.03, 0.05, 0.08} {
		won, recommended, most := replayed(runs, sd)
		asked, met := "≥ 95 %", won*100 >= 95*runs
		if sd > 0.03 { // where a fifth of the trials does not hold that much
			asked, met = "–", true
		}
		answers = append(answers,
			answer{fmt.Sprintf("races of 16 pairs that end within 5 %% of the best, trials ±%g %%", 100*sd), share(won, runs), asked, met},
			answer{"  of these, what fresh blocks confirm, or the defaults where those are near", share(recommended, runs), "–", true},
			answer{fmt.Sprintf("  trials at most, of %d for every pair in 16 blocks", gridExhaustive), fmt.Sprint(most), fmt.Sprintf("≤ %d", gridTrials), most <= gridTrials})
		kept := unmoved(runs, sd)
		answers = append(answers, answer{fmt.Sprintf("races of 16 equal settings that keep the defaults, trials ±%g %%", 100*sd), share(kept, runs), "≥ 95 %", kept*100 >= 95*runs})
	}
	live, err := p.tunedLive(ctx)
	return append(answers, live...), err
}

// tunedLive races the pairs of buffers here, and then runs all of them in every block.
func (p *pipeline) tunedLive(ctx context.Context) ([]answer, error) {
	header, trials, records, err := p.steered(ctx, search.Next, everyPair)
	if err != nil {
		return nil, err
	}
	f, err := readable(header, trials, records)
	if err != nil {
		return nil, err
	}
	all, err := p.exhaust(ctx)
	if err != nil {
		return nil, err
	}
	winner := cmp.Or(f.Search.Choice.Winner, f.Search.Baseline)
	best, ratio := behindBest(all.dataset, winner)
	return []answer{
		{fmt.Sprintf("live: the race's %s ÷ %s, the best pair of %d trials", winner, best, len(all.trials)),
			fmt.Sprintf("%.3f (%.3f–%.3f)", ratio.Point, ratio.Low, ratio.High), "≥ 0.952", ratio.Point*near >= 1},
		{"  trials of the race, its confirmation included", fmt.Sprint(f.Search.Choice.Trials), "–", true},
		{"  recommended", f.Search.Choice.Recommended, "–", true},
	}, nil
}

// behindBest divides an arm's rate by that of the fastest, block by block.
func behindBest(s *cells.Dataset, arm string) (best string, ratio stat.Estimate) {
	rate := func(name string) *cells.Pool { return cells.PoolOf(s.TrialsOf(s.Cells[0], name), metric.ExchangesPerS) }
	fastest := 0.0
	for _, name := range s.Arms {
		if f, ok := rate(name).Figure(); ok && f.Value > fastest {
			best, fastest = name, f.Value
		}
	}
	if best == arm {
		return best, stat.Estimate{Point: 1, Low: 1, High: 1}
	}
	own, other := rate(arm), rate(best)
	var ratios []float64
	for _, block := range own.Rising() {
		if y, ok := other.Log(block); ok {
			x, _ := own.Log(block)
			ratios = append(ratios, math.Exp(x-y))
		}
	}
	ratio, _ = stat.GeometricMean(ratios)
	return best, ratio
}

// recorded is where the recording lies that is raced unless -record names another place.
const recorded = "truth/testdata"

// tunedOnRecords races recorded trials of every pair many times, each time with the blocks
// in another order, and counts the races that end near the pair that all the trials
// together show to be the best. With -record it records them first.
func tunedOnRecords(ctx context.Context, p *pipeline) ([]answer, error) {
	if p.record != "" {
		if err := p.recordGrid(ctx, p.record); err != nil {
			return nil, err
		}
	}
	r, err := readRecording(cmp.Or(p.record, recorded))
	if err != nil {
		return nil, err
	}
	g, err := r.grid()
	if err != nil {
		return nil, err
	}
	const runs = 1000
	won, recommended, most := g.races(runs)
	among := 0
	for arm := range g.rates {
		among += oneIf(g.near(arm))
	}
	return []answer{
		{fmt.Sprintf("races of %d recorded trials that end within 5 %% of the best, %s", len(r.Trials), g.best), share(won, runs), "≥ 95 %", won*100 >= 95*runs},
		{"  of these, what fresh blocks confirm, or the defaults where those are near", share(recommended, runs), "–", true},
		{fmt.Sprintf("  trials at most, of %d for every pair in 16 blocks", gridExhaustive), fmt.Sprint(most), fmt.Sprintf("≤ %d", gridTrials), most <= gridTrials},
		{"  settings within 5 % of the best; by what one trial scatters", fmt.Sprintf("%d of %d; ±%.1f %%", among, len(pairs), 100*g.sd), "–", true},
		{"  recorded " + r.origin(), fmt.Sprintf("%d of %d trials valid", len(r.Trials), r.Planned), "–", true},
	}, nil
}

// near tells whether a pair comes within 5 % of the best.
func (g recordedGrid) near(arm string) bool { return g.rates[arm]*near >= g.rates[g.best] }

// races counts as replayed does, of races whose blocks are recorded ones in random order:
// the blocks that confirm a winner are none of those that chose it.
func (g recordedGrid) races(runs int) (won, recommended, most int) {
	r := rand.New(rand.NewPCG(19, uint64(len(g.blocks))))
	for range runs {
		order := r.Perm(len(g.blocks))
		found := raced(len(g.blocks), func(arm string, block int) float64 { return g.blocks[order[block-1]][arm] })
		won += oneIf(g.near(cmp.Or(found.Winner, gridBaseline)))
		recommended += oneIf(g.near(found.Recommended))
		most = max(most, found.Trials)
	}
	return won, recommended, most
}

func oneIf(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
