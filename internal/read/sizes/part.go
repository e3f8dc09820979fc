package sizes

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// Headline says which classes differ from what is said of all exchanges together: by the
// baseline, or of one arm alone by each other.
func (z *Sizes) Headline() part.Headline {
	if z == nil {
		return part.Headline{}
	}
	h := part.Headline{Warnings: z.warnings, Sentences: z.differing()}
	if s := z.alone(); s != "" {
		h.Sentences = append(h.Sentences, s)
	}
	return h
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
		s := part.Section{ID: fmt.Sprintf("sizes-%d", i+1), Title: part.Capital(z.names.CellOr(cell, "all exchanges"))}
		s.Figure = chart(s.ID, byCell[cell])
		versus := slices.DeleteFunc(slices.Clone(z.Versus), func(v Versus) bool { return v.Cell != cell })
		s.Sentences = (&Sizes{Versus: versus, names: z.names}).differing()
		alone := len(byCell[cell]) == 1
		for _, of := range []struct {
			title string
			sorts func(Sorts) []Sort
		}{{"class", func(o Sorts) []Sort { return o.Classes }}, {pathOr(byCell[cell][0].Paths), func(o Sorts) []Sort { return o.Paths }}, {"step", func(o Sorts) []Sort { return o.Steps }}, {"size", func(o Sorts) []Sort { return o.Sizes }}} {
			if t := table(of.title, byCell[cell], of.sorts); len(t.Rows) > 0 {
				if rows := of.sorts(byCell[cell][0]); alone && of.title != "size" {
					lines := (&Sizes{names: z.names}).Table(Rows{of.title, kindOf(byCell[cell]), rows, byCell[cell][0]}, len(rows))
					lines.Caption = part.Capital(kindOf(byCell[cell])) + " times."
					t.Terminal = &lines
				}
				s.Tables = append(s.Tables, part.Bounded(t))
			}
		}
		if len(versus) > 0 {
			s.Tables = append(s.Tables, part.Bounded(versusTable(versus)))
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

// column is one of a table's figures.
type column struct {
	title string
	name  string // of the metric whose units it has; "" for a plain number
	of    func(Sort) cells.Figure
}

// columns are those of which any sort has a figure.
func columns(kind string, of []Sorts, sorts func(Sorts) []Sort) []column {
	all := []column{
		{"rate", metric.ExchangesPerS, func(s Sort) cells.Figure { return s.Rate }},
		{"bytes both ways", metric.Goodput, func(s Sort) cells.Figure { return s.Bytes }},
		{kind + " p50", metric.PercentileName(kind, "p50"), func(s Sort) cells.Figure { return s.P50 }},
		{kind + " p95", metric.PercentileName(kind, "p95"), func(s Sort) cells.Figure { return s.P95 }},
		{kind + " p99", metric.PercentileName(kind, "p99"), func(s Sort) cells.Figure { return s.P99 }},
		{"slowdown p99", metric.SlowdownP99, func(s Sort) cells.Figure { return s.Slowdown }},
	}
	return slices.DeleteFunc(all, func(c column) bool { return largest(of, sorts, c) == 0 })
}

// largest returns the largest figure of a column, 0 where there is none.
func largest(of []Sorts, sorts func(Sorts) []Sort, c column) float64 {
	most := 0.0
	for _, one := range of {
		for _, s := range sorts(one) {
			most = max(most, c.of(s).Value)
		}
	}
	return most
}

// kindOf is the kind of the times of a cell's arms.
func kindOf(of []Sorts) string {
	if slices.ContainsFunc(of, func(one Sorts) bool { return one.Open }) {
		return record.Response
	}
	return record.Service
}

// table has a row of every arm and sort.
func table(title string, of []Sorts, sorts func(Sorts) []Sort) part.Table {
	kind := kindOf(of)
	t := part.Table{
		Caption: "Rates are means over blocks, percentiles of all " + kind + " times together, with their 95 % intervals.",
		Columns: slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles(title), part.Figures("share")),
	}
	if title == "size" {
		t.Caption += " A size is that of the larger message of an exchange."
	}
	shown := columns(kind, of, sorts)
	scales := make([]metric.Scale, len(shown))
	for i, c := range shown {
		scales[i] = part.ScaleFor(c.name, largest(of, sorts, c))
		t.Columns = append(t.Columns, part.Column{Title: c.title, Kind: part.Numbers, Unit: scales[i].Unit})
		if c.name == metric.SlowdownP99 {
			t.Caption += " The slowdown is p99 ÷ the arm's median time for that size without load."
		}
	}
	for _, one := range of {
		for _, s := range sorts(one) {
			row := []part.Datum{part.Word(one.Arm), part.Word(s.Name()), part.Value(quantity.FormatShare(s.Share), "")}
			for i, c := range shown {
				row = append(row, amount(c.of(s), scales[i]))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	t.Terminal = brief(title, kind, of, sorts)
	return t
}

// brief has a row of every sort and a column of every arm: p99, or p50 where most sorts have
// too few exchanges for a p99.
func brief(title, kind string, of []Sorts, sorts func(Sorts) []Sort) *part.Table {
	known, all := 0, 0
	for _, one := range of {
		for _, s := range sorts(one) {
			if all++; s.P99.N > 0 {
				known++
			}
		}
	}
	c := column{"p99", metric.PercentileName(kind, "p99"), func(s Sort) cells.Figure { return s.P99 }}
	if 2*known < all {
		c = column{"p50", metric.PercentileName(kind, "p50"), func(s Sort) cells.Figure { return s.P50 }}
	}
	scale := part.ScaleFor(c.name, largest(of, sorts, c))
	t := part.Table{Caption: part.Capital(part.Label(c.name)) + ", " + scale.Unit + ".", Columns: part.Titles(title)}
	rows := map[string]int{}
	for i, one := range of {
		t.Columns = append(t.Columns, part.Figures(one.Arm)...)
		for _, s := range sorts(one) {
			at, has := rows[s.Name()]
			if !has {
				at, rows[s.Name()] = len(t.Rows), len(t.Rows)
				row := []part.Datum{part.Word(s.Name())}
				for range of {
					row = append(row, part.Missing())
				}
				t.Rows = append(t.Rows, row)
			}
			t.Rows[at][1+i] = amount(c.of(s), scale).Plain()
		}
	}
	return &t
}

func amount(f cells.Figure, s metric.Scale) part.Datum {
	if f.N == 0 {
		return part.Missing()
	}
	d := part.AmountOf(f, s)
	if d.Figure != nil {
		d.Figure.Unit = "" // its column's
	}
	return d
}

// chart draws p99 over the sizes, a line for each arm; nil where there is nothing to draw.
func chart(id string, of []Sorts) *part.Figure {
	kind, most := metric.PercentileName(kindOf(of), "p99"), 0.0
	lines := part.Lines{X: part.Axis{Title: "size, B", Scale: metric.Scale{Factor: 1, Unit: "B"}, Log: true}}
	ticks := map[int64]string{}
	for i, one := range of {
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
