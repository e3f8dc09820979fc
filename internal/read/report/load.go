package report

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/read/summary"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// loadTable has a row for each arm in each cell, and the columns by which users of load
// generators know a run; brief leaves those out of which a terminal has no room. apart says
// that lines by class, path or step stand below, which have the percentiles.
func loadTable(s *summary.Summary, brief, apart bool) part.Table {
	t := part.Table{Columns: part.OfKind(part.Arms, "")}
	byConnections := s.ByConnections()
	if byConnections {
		t.Columns[0].Title = "connections"
	}
	for _, l := range s.Loads {
		name := s.Row(l)
		if byConnections {
			name, _, _ = strings.Cut(name, " ")
		}
		t.Rows = append(t.Rows, part.Row(name))
	}
	column := func(c part.Column, value func(summary.Load) part.Datum) {
		values := make([]part.Datum, len(s.Loads))
		for i, l := range s.Loads {
			values[i] = value(l)
		}
		addColumn(&t, c, values)
	}
	figures := func(title, name string, get func(summary.Load) *summary.Figure) {
		if !slices.ContainsFunc(s.Loads, func(l summary.Load) bool { return get(l) != nil }) {
			return
		}
		scale := scaleOfLoads(s, name, get)
		unit := strings.TrimSuffix(scale.Unit, "/s")
		if name != metric.ExchangesPerS {
			unit = strings.Replace(scale.Unit, "/exchange", "/request", 1)
		}
		column(part.Column{Title: title, Kind: part.Numbers, Unit: unit, Metric: name, Brief: name != serverCPU}, func(l summary.Load) part.Datum { return loadFigure(get(l), scale) })
	}
	if !brief {
		column(part.Figures("requests")[0], func(l summary.Load) part.Datum { return part.Value(quantity.FormatCount(float64(l.Requests)), "") })
	}
	figures("requests/s", metric.ExchangesPerS, func(l summary.Load) *summary.Figure { return l.Rate })
	if !brief {
		column(part.Column{Title: "±", Unit: "%", Kind: part.Numbers}, func(l summary.Load) part.Datum {
			if l.Rate == nil || l.Rate.Within == 0 {
				return part.Datum{}
			}
			return part.Value(strconv.FormatFloat(100*l.Rate.Within, 'f', 0, 64), "")
		})
		figures("goodput", metric.Goodput, func(l summary.Load) *summary.Figure { return l.Goodput })
	}
	events := slices.ContainsFunc(s.Loads, func(l summary.Load) bool { return l.Event(metric.EventsPerS) != nil })
	for _, name := range metric.OfEvents() {
		figures(metric.CalledOf(s.Loads[0].EventKind, name), name, func(l summary.Load) *summary.Figure { return l.Event(name) })
	}
	for _, p := range metric.Percentiles {
		if events && brief {
			break // the end of a reply is not what is waited for
		}
		if !apart && (p.Brief || !brief) { // a percentile of paths all together is none of any of them
			figures(p.Label, metric.PercentileName(s.Loads[0].Times, p.Name), func(l summary.Load) *summary.Figure { return l.Percentile(p.Label) })
		}
	}
	figures("max", metric.PercentileName(s.Loads[0].Times, "p999"), func(l summary.Load) *summary.Figure {
		if l.MaxUs == 0 || events && brief {
			return nil
		}
		return &summary.Figure{Value: l.MaxUs, Known: true, Least: l.MaxAtLeast}
	})
	if s.Totals.Failed > 0 {
		figures("errors", metric.ErrorShare, func(l summary.Load) *summary.Figure { return l.Errors })
	}
	figures("server CPU", serverCPU, func(l summary.Load) *summary.Figure { return l.ServerCPU })
	column(part.Column{Title: "limited by", Kind: part.Limits}, func(l summary.Load) part.Datum {
		return part.Word(trial.Limit(l.Limit).Called())
	})
	return t
}

// serverCPU is a column that a terminal leaves out where it has no room.
const serverCPU = metric.OfServer + metric.CPUPerExchange

// addColumn appends a column unless no row has anything in it.
func addColumn(t *part.Table, c part.Column, values []part.Datum) {
	if !slices.ContainsFunc(values, func(d part.Datum) bool {
		return d.Figure != nil || d.Ratio != nil || d.Text != "" && d.Text != string(trial.Unknown)
	}) {
		return
	}
	t.Columns = append(t.Columns, c)
	for i := range t.Rows {
		t.Rows[i] = append(t.Rows[i], values[i])
	}
}

// scaleOfLoads is the unit for a column, by its largest figure.
func scaleOfLoads(s *summary.Summary, name string, get func(summary.Load) *summary.Figure) metric.Scale {
	largest := 0.0
	for _, l := range s.Loads {
		if f := get(l); f != nil {
			largest = max(largest, f.Value)
		}
	}
	return part.ScaleFor(name, largest)
}

func loadFigure(f *summary.Figure, scale metric.Scale) part.Datum {
	if f == nil || !f.Known {
		return part.Word(loadText(f, scale))
	}
	return part.Value(loadText(f, scale), "")
}

func loadText(f *summary.Figure, scale metric.Scale) string {
	switch {
	case f == nil:
		return part.None
	case !f.Known:
		return "?"
	case f.Least:
		return "≥ " + scale.Format(f.Value)
	}
	return scale.Format(f.Value)
}

// barRows is how many bars a histogram on a terminal has at most.
const barRows = 6

// loadTables are the tables of a run whose servers are its user's own: what compares several
// arms, or the load of one and its times as bars, and lines by class, path or step.
func (l *layout) loadTables(s *summary.Summary, compared []part.Table) []part.Table {
	rows := l.Sizes.Rows()
	tables := compared
	if len(l.keys) < 2 || len(tables) == 0 {
		tables = []part.Table{loadTable(s, true, len(rows) > 0)}
	}
	if stages, ok := stageTable(s); ok {
		tables = append(tables, stages)
	}
	if bars, ok := barTable(s, barRows); ok && s.Loads[0].Event(metric.EventsPerS) == nil && len(rows) == 0 && len(l.keys) == 1 {
		tables = append(tables, bars)
	}
	for _, r := range rows {
		tables = append(tables, l.Sizes.Table(r, mostRows))
	}
	return tables
}

// stageTable has the stages of requests in the rows, and every load in a column. False where
// clients tell none, or nothing that the times of whole requests do not, or of too many loads.
func stageTable(s *summary.Summary) (t part.Table, ok bool) {
	t.Columns = part.Titles("stages, p50 / p99")
	for _, l := range s.Loads {
		t.Columns = append(t.Columns, part.Titles(s.Row(l))...)
	}
	add := func(name string, cell func(summary.Load) string) {
		row := part.Row(name)
		for _, l := range s.Loads {
			row = append(row, part.Word(cell(l)))
		}
		if slices.ContainsFunc(row[1:], func(d part.Datum) bool { return d.Text != "" }) {
			t.Rows = append(t.Rows, row)
		}
	}
	for _, kind := range metric.Stages {
		if kind == record.FirstByte && !slices.ContainsFunc(s.Loads, summary.Load.TellsFirstByte) {
			continue
		}
		p50, p99 := metric.PercentileName(kind, "p50"), metric.PercentileName(kind, "p99")
		scale := scaleOfLoads(s, p50, func(l summary.Load) *summary.Figure { return cmp.Or(l.Stage(p99), l.Stage(p50)) })
		add(strings.TrimSuffix(metric.Shown(p50).Label, " p50"), func(l summary.Load) string {
			if l.Stage(p50) == nil {
				return ""
			}
			return part.Joined(" ", loadText(l.Stage(p50), scale), "/", loadText(l.Stage(p99), scale), scale.Unit)
		})
	}
	add("handshakes resumed", func(l summary.Load) string {
		if f := l.Stage(metric.ResumedShare); f != nil && f.Value > 0 {
			return barShare(f.Value)
		}
		return ""
	})
	return t, len(t.Rows) > 0 && len(s.Loads) <= mostBars
}

// barShare is a share of all times.
func barShare(share float64) string {
	switch percents := 100 * share; {
	case share == 0:
		return ""
	case percents < 0.1:
		return "<0.1 %"
	case percents < 9.95:
		return strconv.FormatFloat(percents, 'f', 1, 64) + " %"
	default:
		return strconv.FormatFloat(percents, 'f', 0, 64) + " %"
	}
}

const (
	mostBars   = 4  // loads whose bars stand beside each other
	barColumns = 62 // columns for the bars of all loads, on a terminal of 80
	barText    = 9  // columns of them for a share and what is between two
	fullBar    = "█"
)

// barTable draws the times of every load as bars beside each other, in at most so many
// rows of logarithmic width. False where too many loads or no times are to be drawn.
func barTable(s *summary.Summary, rows int) (part.Table, bool) {
	if len(s.Loads) > mostBars {
		return part.Table{}, false
	}
	bounds := s.Bounds(rows)
	if bounds == nil {
		return part.Table{}, false
	}
	return drawBars(s, bounds), true
}

func drawBars(s *summary.Summary, bounds []float64) part.Table {
	t := part.Table{Columns: part.Titles(s.Loads[0].Times + " times")}
	for i := range bounds {
		t.Rows = append(t.Rows, part.Row(boundText(bounds, i)))
	}
	longest := 0.0
	shares := make([][]float64, len(s.Loads))
	for i, l := range s.Loads {
		shares[i] = l.Shares(bounds)
		longest = max(longest, slices.Max(shares[i]))
	}
	width := min(barColumns/len(s.Loads)-barText, barColumns/2)
	for i, l := range s.Loads {
		t.Columns = append(t.Columns, part.Titles(s.Row(l))...)
		for row, share := range shares[i] {
			length := int(share/max(longest, 1e-9)*float64(width) + 0.5)
			text := strings.Repeat(fullBar, length)
			t.Rows[row] = append(t.Rows[row], part.Word(part.Joined(" ", text, barShare(share))))
		}
	}
	return t
}

// boundText names a row: "≤ 50 µs", and "longer" behind the last bound.
func boundText(bounds []float64, row int) string {
	us, unit := bounds[row], "µs"
	if us == summary.Unbounded {
		return "longer"
	}
	switch {
	case us >= 1e6:
		us, unit = us/1e6, "s"
	case us >= 1e3:
		us, unit = us/1e3, "ms"
	}
	return "≤ " + strconv.FormatFloat(us, 'f', -1, 64) + " " + unit
}

// mostRows is how many lines by class, path or step a screen has: of more those with the
// most time.
const mostRows = 12
