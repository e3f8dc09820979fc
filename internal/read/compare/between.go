package compare

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// Between judges one declared comparison by its pairs alone, at the whole level: what a
// study of two arms without any noise of its own would say.
func Between(m metric.Metric, p Pairs, margin float64) Comparison {
	b := &Pending{
		Comparison: Comparison{Metric: m.Name, Primary: true, Level: cells.Level, Ratios: p.Ratios, In: p.Blocks, Blocks: len(p.Ratios), Value: p.Value, BaseValue: p.Base, P: 1, Adjusted: 1},
		Pairs:      p, Better: m.Better, Margin: margin, Tested: true,
	}
	if e, ok := p.EstimateAt(b.Level); ok {
		b.Ratio, b.Low, b.High, b.P = e.Point, e.Low, e.High, stat.SignFlip(p.Effects)
	} else {
		b.Refusal = "fewer than 2 blocks have both figures"
	}
	AdjustFamily([]*Pending{b}, StepDown, AdjustStepDown)
	b.Bound = margin
	b.Judge()
	return b.Comparison
}
