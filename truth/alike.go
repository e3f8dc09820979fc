package main

import (
	"context"
	"fmt"
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// brief are trials of which many fit in some minutes: real clients and servers
// over loopback.
var brief = []string{"connections=8", "window=200ms", "warmup=50ms"}

// alike compares identical arms over and over: study aa, six blocks each time,
// two arms against a third on two metrics.
func alike(ctx context.Context, p *pipeline) ([]answer, error) {
	const studies, least = 50, 200
	wrong, all, alone := 0, 0, 0
	for i := range studies {
		f, err := p.study(ctx, append([]string{
			"aa", "blocks=6", fmt.Sprintf("seed=%d", i+1), "compare.primary=exchanges_per_s,server.cpu_us_per_exchange",
		}, brief...)...)
		if err != nil {
			return nil, err
		}
		for _, c := range f.Comparisons {
			if !c.Primary {
				continue
			}
			all++
			wrong += oneIf(apart(c.Verdict))
			if logs, ok := stat.Logs(c.Ratios); ok && stat.SignFlip(logs) <= cells.Level {
				alone++
			}
		}
	}
	return []answer{
		{"identical arms called better or worse (6 blocks of 0.2 s, families of 4)", share(wrong, all), fmt.Sprintf("≤ 5 %% of ≥ %d", least), all >= least && atMost(wrong, all, 0.05)},
		{"  of these p ≤ 0.05 by the sign flip alone, without family, bound, interval", share(alone, all), "–", true},
	}, nil
}

// alikeAtLooks compares identical arms in studies of three looks, none of which
// ends early, and judges each study at every look: how many call identical arms
// different at any of them.
func alikeAtLooks(ctx context.Context, p *pipeline) ([]answer, error) {
	const studies = 20
	wrong, fooled := 0, 0 // studies by their looks, and by looks at the full level
	for i := range studies {
		header, trials, records, err := p.records(ctx, append([]string{
			"aa", "blocks=16", fmt.Sprintf("seed=%d", 1000+i), "compare.primary=exchanges_per_s,server.cpu_us_per_exchange",
		}, brief...)...)
		if err != nil {
			return nil, err
		}
		header.Study.OwnLooks = []int{6, 10, 16} // none of which has ended the run
		differs, unshared, err := atLooks(header, trials, records)
		if err != nil {
			return nil, err
		}
		if differs {
			wrong++
		}
		if unshared {
			fooled++
		}
	}
	return []answer{
		{"studies that call identical arms different at any of 3 looks (6, 10, 16 blocks)", share(wrong, studies), "≤ 5 %", atMost(wrong, studies, cells.Level)},
		{"  the same records, every look at the full level", share(fooled, studies), "–", true},
	}, nil
}

// atLooks judges a study's records at each of its looks, at the look's own level
// and at the whole one, and tells whether any comparison differs at any look.
func atLooks(header record.Header, trials []record.Trial, records []record.Record) (differs, unshared bool, err error) {
	for k, blocks := range header.Study.Looks() {
		seen := slices.DeleteFunc(slices.Clone(records), func(r record.Record) bool { return r.Trial.Block > blocks })
		stopped, whole := header, header
		stopped.Stopped = &record.Stop{Look: k + 1, Blocks: blocks}
		whole.Study.Blocks, whole.Study.OwnLooks = blocks, nil
		here := slices.DeleteFunc(slices.Clone(trials), func(t record.Trial) bool { return t.Block > blocks })
		f, err := readable(stopped, trials, seen)
		if err != nil {
			return false, false, fmt.Errorf("look after %d blocks: %w", blocks, err)
		}
		g, err := readable(whole, here, seen)
		if err != nil {
			return false, false, fmt.Errorf("look after %d blocks: %w", blocks, err)
		}
		differs, unshared = differs || different(f), unshared || different(g)
	}
	return differs, unshared, nil
}

// different tells whether a primary comparison calls its arms different.
func different(f finding.Findings) bool {
	return slices.ContainsFunc(f.Comparisons, func(c compare.Comparison) bool {
		return c.Primary && apart(c.Verdict)
	})
}
