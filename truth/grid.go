package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
)

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
