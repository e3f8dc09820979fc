package main

import (
	"context"
	"fmt"
	"math"

	"netdyno/internal/read/cost"
)

// leastUnseen is how many cells a model must be held to.
const leastUnseen = 12

// modelled asks how far the models of two transports are off in cells that they have
// not seen: one with messages, one that streams.
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
	}
	return answers, nil
}

func heldTo(c cost.Cost, m cost.Model) answer {
	worst, _ := m.Worst()
	what := fmt.Sprintf("%s of %s %s in %d cells not seen, by 90 %%", c.Spec.Metric, m.Arm, m.At, len(m.HeldOut))
	if m.At == "" {
		what = fmt.Sprintf("%s of %s in %d cells not seen, by 90 %%", c.Spec.Metric, m.Arm, len(m.HeldOut))
	}
	measured := fmt.Sprintf("%.1f %% (median %.1f, most %.1f)", 100*m.P90, 100*m.Median, 100*math.Abs(worst.Error))
	// A direction of a stream has half the cells; both of them are what a transport is held to.
	enough := len(m.HeldOut) >= leastUnseen || m.At != "" && 2*len(m.HeldOut) >= leastUnseen
	return answer{what, measured, fmt.Sprintf("≤ %.0f %%", 100*cost.Tolerance), m.Reason == "" && enough}
}
