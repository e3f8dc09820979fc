package main

import (
	"context"
	"fmt"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/record"
)

// madeApart calibrates the machine, makes runs of one build one after the
// other, and compares every two of them.
func madeApart(ctx context.Context, p *pipeline) ([]answer, error) {
	const runs = 15
	noise, err := p.study(ctx, "calibrate-noise")
	if err != nil {
		return nil, err
	}
	calibration := history.Calibration(p.facts.Rig, []record.Calibrated{history.Calibrate(compare.Run{}, compare.Run{}, noise.Run)})
	work := append([]string{"transport=go-net,go-http1", "blocks=6"}, brief...)
	var all []finding.Findings
	for i := range runs {
		f, err := p.study(ctx, append([]string{fmt.Sprintf("seed=%d", i+1)}, work...)...)
		if err != nil {
			return nil, err
		}
		all = append(all, f)
	}
	pairs, wolves := 0, 0
	for i := range all {
		for k := range i {
			pairs++
			if history.CompareRuns(all[k].Run, all[i].Run, calibration).Result == compare.IsWorse {
				wolves++
			}
		}
	}
	return []answer{
		{fmt.Sprintf("two runs of one build, of which one is called worse (every two of %d)", runs), share(wolves, pairs), "≤ 5 %", atMost(wolves, pairs, 0.05)},
	}, nil
}
