package report

import (
	"fmt"
	"slices"
	"strconv"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/view"
)

// shapes makes a section of every published ratio that was measured in the
// publication's own shape too.
func (l *layout) shapes() []Section {
	sections := make([]Section, 0, len(l.Findings.Shapes))
	for i, x := range l.Findings.Shapes {
		s := Section{
			ID: fmt.Sprintf("shape-%d", i+1), Title: fmt.Sprintf("Start-up: %s ÷ %s%s", x.Spec.Arm, x.Spec.Base, cells.InCell(x.Alike())),
			Note: "On " + x.Spec.Metric + ". " + x.Sentence + " Published by: " + x.Spec.Source + ".",
		}
		if x.Blocks > 0 && x.Reason == "" {
			s.Tables = []Table{shapeTable(x)}
		}
		sections = append(sections, s)
	}
	return sections
}

func shapeTable(x view.Shape) Table {
	row := func(what, where string, ratio Datum, blocks string) []Datum {
		return []Datum{word(what), word(where), ratio, number(blocks, "")}
	}
	measured := func(point, low, high float64) Datum {
		return Datum{Ratio: &Ratio{Text: ratio(point), Interval: ratioInterval(low, high)}}
	}
	blocks := strconv.Itoa(x.Blocks)
	shaped, steady := x.Ends()
	return Table{
		Caption: "The published shape runs a fixed number of exchanges in fresh processes and counts from the first one on; connections are open by then. With " + confidence(x.Level) + " intervals over the same blocks.",
		Columns: slices.Concat(columns("", "trials"), numbers(x.Spec.Arm+" ÷ "+x.Spec.Base, "blocks")),
		Rows: [][]Datum{
			row("published", "", Datum{Ratio: &Ratio{Text: ratio(x.Spec.Ratio)}}, ""),
			row("published shape", cells.Spoken(shaped), measured(x.Shaped.Point, x.Shaped.Low, x.Shaped.High), blocks),
			row("steady window", cells.Spoken(steady), measured(x.InWindow.Point, x.InWindow.Low, x.InWindow.High), blocks),
			row("start-up: the one ÷ the other", "", measured(x.StartUp.Point, x.StartUp.Low, x.StartUp.High), blocks),
		},
	}
}
