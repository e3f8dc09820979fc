package main

import (
	"context"
	"fmt"
	"math"
	"strings"

	"netdyno/internal/read/cost"
)

// leastUnseen is how many cells a model must be held to.
const leastUnseen = 12

// modelled asks how far the models of two transports, one with messages and one that
// streams, are off in cells that the models were not fitted to, and in mixes of sizes. It runs the whole studies
// of netdyno cost (seven minutes), because the promise is that netdyno cost has an
// answer.
func modelled(ctx context.Context, p *pipeline) ([]answer, error) {
	var answers []answer
	for _, args := range [][]string{{"cost", "transport=go-http1"}, {"cost-stream", "transport=go-net"}} {
		f, err := p.study(ctx, args...)
		if err != nil {
			return answers, err
		}
		for _, c := range f.Costs {
			for _, m := range c.Models {
				answers = append(answers, heldTo(c, m))
			}
		}
		if args[0] != "cost" {
			continue
		}
		mixes, err := mixCosts(ctx, p, "go-http1", f.Costs)
		if answers = append(answers, mixes...); err != nil {
			return answers, err
		}
	}
	return answers, nil
}

func heldTo(c cost.Cost, m cost.Model) answer {
	who := strings.TrimSpace(m.Arm + " " + m.At)
	what := fmt.Sprintf("%s of %s in %d cells not seen, by 90 %%", c.Spec.Metric, who, len(m.HeldOut))
	expected := fmt.Sprintf("≤ %.0f %%", 100*cost.Tolerance)
	worst, held := m.Worst()
	if !held {
		return answer{what, m.Reason, expected, false}
	}
	measured := fmt.Sprintf("%.1f %% (median %.1f, most %.1f at %s)", 100*m.P90, 100*m.Median, 100*math.Abs(worst.Error), worst.Cell)
	return answer{what, measured, expected, m.Reason == "" && !m.Rough && len(m.HeldOut) >= leastUnseen}
}
