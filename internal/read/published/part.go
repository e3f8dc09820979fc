package published

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// terminalLines bounds what a terminal shows of published figures.
const terminalLines = 60

// Part has what stands beside a measurement, and the other figures with the reason why
// they stand beside nothing.
func (all Figures) Part() part.Part {
	p := part.Part{ID: "published", Title: "Published figures", Lines: terminalLines}
	beside, elsewhere := all.beside(), all.elsewhere()
	if len(beside.Rows) > 0 {
		p.Sections = append(p.Sections, part.Section{
			ID: "published-beside", Title: "Published and measured", Tables: []part.Table{beside}, OnScreen: true,
			Sentences: []string{"Ratios between two arms can be compared across machines when they were measured under the same conditions. Absolute figures cannot."},
		})
	}
	if len(elsewhere.Rows) > 0 {
		p.Sections = append(p.Sections, part.Section{ID: "published-elsewhere", Title: "Published, and not measured here", Tables: []part.Table{part.Bounded(elsewhere)}, OnScreen: true})
	}
	return p
}

// beside has a row for each figure that stands beside a measurement; on a terminal
// without source and note, which are long.
func (all Figures) beside() part.Table {
	t := part.Table{
		Caption: "Published and measured ratios side by side, measured under the conditions that the publication states, with the intervals of the comparisons.",
		Columns: slices.Concat(part.Titles("cell", "metric", "arm ÷ base"), part.Figures("published", "measured here"), part.Titles("source", "note")),
	}
	for _, f := range all {
		if f.notBeside() != "" {
			continue
		}
		measured := part.Missing()
		if f.Measured > 0 {
			measured = part.Datum{Ratio: &part.Ratio{Text: part.Times(f.Measured), Interval: part.Span(f.Low, f.High)}}
		}
		t.Rows = append(t.Rows, append(part.Row(cmp.Or(f.Cell, f.Published.Cell, "all"), part.Label(f.Metric), f.arms()), f.ratio(), measured, part.Word(f.Source), part.Word(f.Note)))
	}
	short := t.Between(1, len(t.Columns)-2)
	t.Terminal = &short
	return t
}

// elsewhere has a row for each of the others; on a terminal a line for each reason.
func (all Figures) elsewhere() part.Table {
	t := part.Table{
		Caption: "Published, with nothing measured here under the same conditions.",
		Columns: slices.Concat(part.Titles("why", "metric", "arm ÷ base"), part.Figures("published"), part.Titles("source", "note")),
	}
	var reasons []string
	by := map[string]Figures{}
	for _, f := range all {
		if why := f.notBeside(); why != "" {
			if by[why] == nil {
				reasons = append(reasons, why)
			}
			by[why] = append(by[why], f)
		}
	}
	var lines []string
	for _, why := range reasons {
		for _, f := range by[why] {
			t.Rows = append(t.Rows, append(part.Row(why, part.Label(f.Metric), f.arms()), f.ratio(), part.Word(f.Source), part.Word(f.Note)))
		}
		lines = append(lines, part.Capital(why)+". "+by[why].inLine())
	}
	t.Terminal = &part.Table{Notes: lines}
	return t
}

// arms names the two arms, and of a figure that stands beside none, whose cell no column
// names, what tells it from others of the same arms.
func (f Figure) arms() string {
	text := f.Arm + " ÷ " + f.Base
	for i, factor := range slices.Sorted(maps.Keys(f.BaseWhere)) {
		text += []string{" at ", " "}[min(i, 1)] + factor + "=" + f.BaseWhere[factor]
	}
	if f.notBeside() != "" {
		text += cells.InCell(f.at)
	}
	return text
}

func (f Figure) ratio() part.Datum {
	return part.Datum{Ratio: &part.Ratio{Text: part.Times(f.Ratio)}}
}

// inLineShown bounds how many figures of one reason a terminal lists.
const inLineShown = 12

// inLine puts figures into one line, those of a metric together.
func (all Figures) inLine() string {
	var b strings.Builder
	for i, f := range all {
		switch {
		case i == inLineShown:
			fmt.Fprintf(&b, "; and %s; see report.html", quantity.Plural(len(all)-i, "more figure"))
			return b.String()
		case i == 0:
			b.WriteString(part.Label(f.Metric) + " of ")
		case all[i-1].Metric != f.Metric:
			b.WriteString("; " + part.Label(f.Metric) + " of ")
		default:
			b.WriteString(", ")
		}
		b.WriteString(f.arms() + " " + part.Times(f.Ratio))
	}
	return b.String() + "."
}
