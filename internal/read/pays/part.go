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
	"netdyno/internal/record"
)

// Part has a section of every replacement: the sentence, and both sides in every cell.
func (all Replacements) Part() part.Part {
	p := part.Part{ID: "pays", Title: "What pays"}
	for i, one := range all {
		s := part.Section{ID: fmt.Sprintf("pays-%d", i+1), Title: "Does " + one.Spec.Title + " pay?", Sentences: []string{one.Sentence}}
		if len(one.Cells) > 0 {
			s.Tables = []part.Table{one.table()}
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

// ofSpeed is the speed of the table's cores.
func (p Pays) ofSpeed() string {
	if p.Spec.At > 0 {
		return quantity.BitRateText(p.Spec.At)
	}
	return "the link's rate, or at the speed of the faster one where no rate is known"
}

// table lists the cheapest arm of each side in every cell.
func (p Pays) table() part.Table {
	const cost, speed = metric.OfServer + metric.CPUPerGB, metric.Goodput
	t := part.Table{
		Caption: "The cheapest arm of each side by the CPU time of both ends per GB. Cores are that difference at " + p.ofSpeed() + ".",
		Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "with"), part.Figures("CPU per GB", "goodput"), part.OfKind(part.Arms, "without"),
			part.Figures("CPU per GB", "goodput", "÷", "cores saved")),
	}
	for _, w := range p.Cells {
		row := []part.Datum{part.Word(w.Cell)}
		for _, side := range []Weighted{w.Arm, w.Base} {
			row = append(row, part.Word(side.Arm), part.AmountOf(side.CPU, part.ScaleFor(cost, w.Base.CPU.Value)),
				part.AmountOf(side.Goodput, part.ScaleFor(speed, w.Base.Goodput.Value)))
		}
		t.Rows = append(t.Rows, append(row, part.Datum{Ratio: part.RatioOver(w.Ratio.Blocks, w.Ratio.Blocks, w.Ratio.Value, w.Ratio.Low, w.Ratio.High)},
			part.Amount(w.Cores.Point, w.Cores.Low, w.Cores.High, part.ScaleFor("", w.Cores.Point))))
	}
	return t
}

// sentence says what a replacement is worth in the cell in which most goes over
// the link, and what it would have to cost less than.
func (p Pays) sentence(study record.Study) string {
	if len(p.Cells) == 0 {
		return fmt.Sprintf("Whether %s pays cannot be told here: %s.", p.Spec.Title, p.Reason)
	}
	fullest := slices.MaxFunc(p.Cells, func(a, b Weighed) int {
		return cmp.Compare(max(a.Arm.Goodput.Value, a.Base.Goodput.Value), max(b.Arm.Goodput.Value, b.Base.Goodput.Value))
	})
	costs := fmt.Sprintf("%s takes %s of both ends' CPU, %s %s", cells.ArmLabel(study, fullest.Arm.Arm), perGB(fullest.Arm.CPU), cells.ArmLabel(study, fullest.Base.Arm), perGB(fullest.Base.CPU))
	at := p.speedWords(fullest)
	if fullest.Cell != "" {
		at += ", " + cells.CellLabel(study, fullest.Cell)
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
	text := part.WithUnit(w.Speed, metric.Shown(metric.Goodput).Scale(w.Speed))
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
