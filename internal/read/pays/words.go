package pays

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// sentence says what a replacement is worth in the cell in which most goes over
// the link, and what it would have to cost less than.
func (p Pays) sentence() string {
	if len(p.Cells) == 0 {
		return fmt.Sprintf("Whether %s pays cannot be told here: %s.", p.Spec.Title, p.Reason)
	}
	fullest := slices.MaxFunc(p.Cells, func(a, b Weighed) int {
		return cmp.Compare(max(a.Arm.Goodput.Value, a.Base.Goodput.Value), max(b.Arm.Goodput.Value, b.Base.Goodput.Value))
	})
	costs := fmt.Sprintf("%s takes %s of both ends' CPU, %s %s", fullest.Arm.Arm, perGB(fullest.Arm.CPU), fullest.Base.Arm, perGB(fullest.Base.CPU))
	at := p.speedWords(fullest)
	if fullest.Cell != "" {
		at += ", " + cells.Spoken(fullest.Cell)
	}
	here := " on this link"
	if p.Spec.At > 0 {
		here = ""
	}
	low, high := math.Abs(fullest.Cores.Low), math.Abs(fullest.Cores.High)
	amount := fmt.Sprintf("%s cores (%s–%s)", quantity.FormatFigure(math.Abs(fullest.Cores.Point)),
		quantity.FormatFigure(min(low, high)), quantity.FormatFigure(max(low, high)))
	switch {
	case fullest.Cores.Low > 0:
		return fmt.Sprintf("%s pays%s if it costs less than %s, which it saves at %s: %s.", p.Spec.Title, here, amount, at, costs)
	case fullest.Cores.High < 0:
		return fmt.Sprintf("%s does not pay by its CPU: it takes %s more at %s: %s.", p.Spec.Title, amount, at, costs)
	}
	return fmt.Sprintf("Whether %s saves CPU cannot be told from %d blocks: %s, %s, at %s.", p.Spec.Title, fullest.Ratio.Blocks, costs,
		ratioWords(fullest.Ratio), at)
}

// speedWords is the speed that the cores are of.
func (p Pays) speedWords(w Weighed) string {
	if p.Spec.At > 0 {
		return quantity.BitRateText(p.Spec.At)
	}
	s := metric.Shown(metric.Goodput).Scale(w.Speed)
	text := s.Format(w.Speed) + " " + s.Unit
	if w.Nominal {
		return "the link's " + text
	}
	return "the " + text + " that went over it"
}

func perGB(f cells.Figure) string { return part.FigureWords(metric.OfServer+metric.CPUPerGB, f) }

// ratioWords is "0.97× as much (0.95–0.99)".
func ratioWords(r Relative) string {
	if !cells.Known(r.Blocks, r.Value, r.Low, r.High) {
		return "an unknown share of as much (" + cells.WhyUnknown(r.Blocks, r.Blocks) + ")"
	}
	return part.Times(r.Value) + " as much" + part.Bracketed(part.Span(r.Low, r.High))
}
