package shape

import (
	"fmt"
	"slices"
	"strconv"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// Headline says of all published ratios how far start-up moves them.
func (all Shapes) Headline() part.Headline {
	if len(all) == 0 {
		return part.Headline{}
	}
	return part.Headline{Place: part.Before, Sentences: []string{all.sentence()}}
}

// Part has a section of every published ratio that was measured in the publication's own
// shape too.
func (all Shapes) Part() part.Part {
	p := part.Part{ID: "shapes", Title: "Published shape"}
	for i, x := range all {
		s := part.Section{
			ID: fmt.Sprintf("shape-%d", i+1), Title: fmt.Sprintf("Start-up: %s ÷ %s%s", x.Spec.Arm, x.Spec.Base, cells.InCell(x.Alike())),
			Sentences: []string{"On " + part.Label(x.Spec.Metric) + ". " + x.Sentence + " Published by: " + x.Spec.Source + "."},
		}
		if x.Blocks > 0 && x.Reason == "" {
			s.Tables = []part.Table{x.table()}
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

func (x Shape) table() part.Table {
	row := func(what, where string, ratio part.Datum, blocks string) []part.Datum {
		return []part.Datum{part.Word(what), part.Word(where), ratio, part.Value(blocks, "")}
	}
	measured := func(point, low, high float64) part.Datum {
		return part.Datum{Ratio: &part.Ratio{Text: part.Times(point), Interval: part.Span(low, high)}}
	}
	blocks := strconv.Itoa(x.Blocks)
	shaped, steady := x.Ends()
	return part.Table{
		Caption: "The published shape runs a fixed number of exchanges in fresh processes and counts from the first one on; connections are open by then. With " + compare.Confidence(x.Level) + " intervals over the same blocks.",
		Columns: slices.Concat(part.Titles("", "trials"), part.Figures(x.Spec.Arm+" ÷ "+x.Spec.Base, "blocks")),
		Rows: [][]part.Datum{
			row("published", "", part.Datum{Ratio: &part.Ratio{Text: part.Times(x.Spec.Ratio)}}, ""),
			row("published shape", cells.Spoken(shaped), measured(x.Shaped.Point, x.Shaped.Low, x.Shaped.High), blocks),
			row("steady window", cells.Spoken(steady), measured(x.InWindow.Point, x.InWindow.Low, x.InWindow.High), blocks),
			row("start-up: the one ÷ the other", "", measured(x.StartUp.Point, x.StartUp.Low, x.StartUp.High), blocks),
		},
	}
}
