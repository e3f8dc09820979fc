package sizes

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// Headline carries the warnings alone.
func (z *Sizes) Headline() part.Headline {
	if z == nil {
		return part.Headline{}
	}
	return part.Headline{Warnings: z.warnings}
}

// terminalLines bounds what a terminal shows of times by class and size.
const terminalLines = 40

// Part has the times by class and by size of every cell, with a chart over the sizes.
func (z *Sizes) Part() part.Part {
	p := part.Part{ID: "sizes", Title: "Times by class and size", Short: "Classes and sizes", Lines: terminalLines}
	if z == nil {
		return p
	}
	var order []string
	byCell := map[string][]Sorts{}
	for _, one := range z.Sorts {
		if byCell[one.Cell] == nil {
			order = append(order, one.Cell)
		}
		byCell[one.Cell] = append(byCell[one.Cell], one)
	}
	for i, cell := range order {
		s := part.Section{ID: fmt.Sprintf("sizes-%d", i+1), Title: cmp.Or(part.Capital(cells.CellLabel(z.study, cell)), "Times by size")}
		s.Figure = chart(s.ID, byCell[cell])
		for _, of := range []struct {
			title string
			sorts func(Sorts) []Sort
		}{{"class", func(o Sorts) []Sort { return o.Classes }}, {"size", func(o Sorts) []Sort { return o.Sizes }}} {
			if t := table(of.title, byCell[cell], of.sorts); len(t.Rows) > 0 {
				s.Tables = append(s.Tables, part.Bounded(t))
			}
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

// table has a row of every arm and sort.
func table(title string, of []Sorts, sorts func(Sorts) []Sort) part.Table {
	kind, most, slowdowns := "service", 0.0, false
	for _, one := range of {
		if one.Open {
			kind = "response"
		}
		for _, s := range sorts(one) {
			most = max(most, s.P99.Value, s.P50.Value)
			slowdowns = slowdowns || s.Slowdown.N > 0
		}
	}
	scale := part.ScaleFor(metric.PercentileName(kind, "p99"), most)
	t := part.Table{
		Caption: "Percentiles of " + kind + " times, means over blocks with their 95 % intervals.",
		Columns: slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles(title), part.Figures("share of the exchanges"), part.Figures(kind+" p50", kind+" p99")),
	}
	for i := range t.Columns[3:] {
		t.Columns[3+i].Unit = scale.Unit
	}
	if slowdowns {
		t.Columns = append(t.Columns, part.Figures("slowdown p99")...)
		t.Caption += " The slowdown is p99 ÷ the arm's median time for that size without load."
	}
	if title == "size" {
		t.Caption += " A size is that of the larger message of an exchange."
	}
	for _, one := range of {
		for _, s := range sorts(one) {
			row := []part.Datum{part.Word(one.Arm), part.Word(s.Name()), part.Value(part.Percent(s.Share), ""), amount(s.P50, scale), amount(s.P99, scale)}
			if slowdowns {
				row = append(row, amount(s.Slowdown, metric.Scale{Factor: 1}))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

func amount(f cells.Figure, s metric.Scale) part.Datum {
	if f.N == 0 {
		return part.Missing()
	}
	return part.AmountOf(f, s)
}

// chart draws p99 over the sizes, a line for each arm; nil where there is nothing to draw.
func chart(id string, of []Sorts) *part.Figure {
	kind, most := metric.PercentileName("service", "p99"), 0.0
	lines := part.Lines{X: part.Axis{Title: "size, B", Scale: metric.Scale{Factor: 1, Unit: "B"}, Log: true}}
	ticks := map[int64]string{}
	for i, one := range of {
		if one.Open {
			kind = metric.ResponseP99
		}
		line := part.Line{Colour: part.Colour{Arm: i, Of: one.Arm}, Name: one.Arm}
		for _, s := range one.Sizes {
			if s.P99.N == 0 || !part.Drawable(s.P99.Value, s.P99.Low, s.P99.High) {
				continue
			}
			at := float64(max(1, s.FromBytes))
			ticks[max(1, s.FromBytes)] = s.Name()
			most = max(most, s.P99.Value)
			line.Points = append(line.Points, part.LinePoint{
				X: at, Value: part.Brief(s.P99.Value), Low: part.Brief(s.P99.Low), High: part.Brief(s.P99.High),
				Text: one.Arm + ", " + s.Name() + ": " + part.FigureWords(kind, s.P99),
			})
		}
		if len(line.Points) > 1 {
			lines.Lines = append(lines.Lines, line)
		}
	}
	if len(lines.Lines) == 0 {
		return nil
	}
	for at, text := range ticks {
		lines.X.Ticks = append(lines.X.Ticks, part.Tick{At: float64(at), Text: text})
	}
	slices.SortFunc(lines.X.Ticks, func(a, b part.Tick) int { return cmp.Compare(a.At, b.At) })
	lines.Y = part.Axis{Title: part.AxisTitle(kind, part.ScaleFor(kind, most)), Scale: part.ScaleFor(kind, most), Log: true}
	return &part.Figure{Heading: part.Heading{ID: id + "-chart", Title: part.Capital(part.Label(kind)) + " by size", Caption: "Of the larger message of an exchange."}, Lines: &lines}
}
