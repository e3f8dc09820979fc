package main

import (
	"context"
	"fmt"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
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
