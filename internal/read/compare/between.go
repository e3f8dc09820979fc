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
		Comparison: Comparison{Metric: m.Name, Primary: true, Level: cells.Level, Ratios: p.Ratios, In: p.Blocks, Blocks: len(p.Ratios), Of: len(p.Ratios), Value: p.Value, BaseValue: p.Base, Bound: margin, P: 1, Adjusted: 1},
		Pairs:      p, Better: m.Better, Margin: margin, Tested: true,
	}
	known := false
	if b.Effect, known = stat.MeanOf(p.Effects); !known {
		b.Refusal = "fewer than 2 blocks have both figures"
	}
	ShareLevel([]*Pending{b})
	b.Judge()
	return b.Comparison
}
