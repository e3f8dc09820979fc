package report

import (
	"fmt"
	"slices"

	"netdyno/internal/read/view"
)

// pays makes a section of every replacement that the study weighs: the sentence, and
// both sides in every cell.
func (l *layout) pays() []Section {
	sections := make([]Section, 0, len(l.Findings.Pays))
	for i, p := range l.Findings.Pays {
		s := Section{ID: fmt.Sprintf("pays-%d", i+1), Title: "Does " + p.Spec.Title + " pay?", Note: p.Sentence}
		if len(p.Cells) > 0 {
			s.Tables = []Table{l.weighed(p)}
		}
		sections = append(sections, s)
	}
	return sections
}

// weighed lists the cheapest arm of each side in every cell.
func (l *layout) weighed(p view.Pays) Table {
	const cost, speed = "server.cpu_s_per_gb", "goodput_bytes_per_s"
	t := Table{
		Caption: "The cheapest arm of each side by the CPU time of both ends per GB. Cores are that difference at the link's rate, or at the speed of the faster one where no rate is known.",
		Columns: slices.Concat(columns("cell"), ofKind(Arms, "with"), numbers("CPU per GB", "goodput"), ofKind(Arms, "without"),
			numbers("CPU per GB", "goodput", "÷", "cores saved")),
	}
	for _, w := range p.Cells {
		row := []Datum{word(w.Cell)}
		for _, side := range []view.Weighted{w.Arm, w.Base} {
			row = append(row, l.named(side.Arm), amountOf(side.CPU, scaleFor(cost, w.Base.CPU.Value)),
				amountOf(side.Goodput, scaleFor(speed, w.Base.Goodput.Value)))
		}
		t.Rows = append(t.Rows, append(row, Datum{Ratio: ratioOver(w.Ratio.Blocks, w.Ratio.Blocks, w.Ratio.Value, w.Ratio.Low, w.Ratio.High)},
			amount(w.Cores.Point, w.Cores.Low, w.Cores.High, scaleFor("", w.Cores.Point))))
	}
	return t
}
