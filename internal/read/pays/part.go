package pays

import (
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
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
