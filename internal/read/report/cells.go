package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Cell is one combination of the levels that vary beside the compared factor.
type Cell struct {
	ID      string     `json:"id"`
	Title   string     `json:"title"`
	Main    part.Table `json:"main"`             // arms by the metrics that matter, with ratios
	Pairs   part.Table `json:"pairs,omitzero"`   // declared comparisons of two arms of which neither is the baseline
	Clients part.Table `json:"clients,omitzero"` // each by itself, where there are several
	All     part.Table `json:"all"`              // every metric by arm
	Figures []Figure   `json:"figures"`
	Profile *Profile   `json:"profile,omitempty"`
}

// Of more cells than these none is printed on paper by itself, and of more charts the
// first ones.
const (
	printedCells  = 6
	printedCharts = 8
)

// ManyCells tells whether a page has more cells than paper has room for.
func (p Page) ManyCells() bool { return len(p.Cells) > printedCells }

// What the main table shows where it was measured, beside the study's primary
// metrics. A percentile is of the response times in an open loop, else of the service
// times.
var wide = []string{metric.ExchangesPerS, metric.Goodput, "p50_us", "p99_us", metric.OfServer + metric.CPUPerExchange, metric.OfClient + metric.CPUPerExchange, metric.OfServer + metric.PeakRSS}

func (l *layout) cells() []Cell {
	if !l.plan.Kind.Cells { // the heat maps show its cells
		return nil
	}
	all := make([]Cell, 0, len(l.Cells))
	for i, c := range l.Cells {
		cell := Cell{
			ID:      fmt.Sprintf("cell-%d", i+1),
			Title:   cmp.Or(l.cell(c.Name), "Results"),
			Main:    l.mainTable(c),
			Pairs:   l.pairTable(c),
			Clients: l.clientTable(c),
			All:     l.allTable(c),
			Figures: l.cellFigures(i, c),
			Profile: l.profile(c.Name),
		}
		all = append(all, cell)
	}
	return all
}

// resolve makes the percentiles of a list those of a kind of time.
func resolve(names []string, kind string) []string {
	resolved := slices.Clone(names)
	for i, name := range resolved {
		if strings.HasPrefix(name, "p") {
			resolved[i] = kind + "_" + name
		}
	}
	return resolved
}

// inMainTable reports whether the main table of a run shows a metric whatever
// the study's primary metrics are.
func inMainTable(name string) bool {
	return slices.Contains(resolve(wide, record.Service), name) || slices.Contains(resolve(wide, record.Response), name)
}

// choose lists those metrics that the cell measured: the primary ones, which are
// judged, then those of a list, then what was left unfinished.
func (l *layout) choose(c cells.Cell, names []string) []string {
	measured, kind := metricsOf(c), record.Service
	if slices.Contains(measured, metric.ResponseP50) {
		kind = record.Response
	}
	names = resolve(names, kind)
	if standing(c) {
		names = append(slices.DeleteFunc(names, func(name string) bool { return name == metric.OfServer+metric.PeakRSS }), metric.OfServer+metric.RSS)
	}
	var chosen []string
	for _, name := range slices.Concat(l.plan.Compare.Primary, names, leftUnfinished(c)) {
		if slices.Contains(measured, name) && !slices.Contains(chosen, name) {
			chosen = append(chosen, name)
		}
	}
	return withCores(c, chosen)
}

// standing tells whether a cell's servers ran before the run: the highest memory
// of such a one may be of another day.
func standing(c cells.Cell) bool {
	return slices.ContainsFunc(c.Arms, func(a cells.Arm) bool { return a.Settings["server.address"] != "" })
}

// leftUnfinished names the columns that a cell's tables have only where exchanges
// never completed: how many, and how long the oldest had waited.
func leftUnfinished(c cells.Cell) []string {
	for _, a := range c.Arms {
		if slices.ContainsFunc(a.Trials, func(t trial.Trial) bool { return t.Status == trial.Valid && t.Values.At(metric.Unfinished) > 0 }) {
			return []string{metric.Unfinished, metric.UnfinishedAge}
		}
	}
	return nil
}

// mainTable has a row for each arm and a column for each metric.
func (l *layout) mainTable(c cells.Cell) part.Table {
	metrics := l.choose(c, wide)
	t := part.Table{Caption: l.mainCaption(c), Columns: []part.Column{{Title: "arm", Kind: part.Arms}}}
	for _, a := range c.Arms {
		t.Rows = append(t.Rows, []part.Datum{l.armDatum(a)})
	}
	for _, name := range metrics {
		s := scaleOf(c, name)
		column := metricColumn(name, s)
		for i, a := range c.Arms {
			d := armFigure(a, name, s)
			d.Ratio = l.ratioTo(c, a, name)
			if d.Ratio != nil {
				column.Ratios = l.judging(name)
			}
			t.Rows[i] = append(t.Rows[i], d)
		}
		t.Columns = append(t.Columns, column)
		if name == metric.Goodput && onLink(c) {
			column, figures := inGigabits(c.Arms)
			addColumn(&t, column, figures)
		}
	}
	t.Columns = append(t.Columns, part.Column{Title: "limit", Kind: part.Limits})
	for i, a := range c.Arms {
		t.Rows[i] = append(t.Rows[i], part.Datum{Text: string(a.Limit), Detail: a.LimitProof})
	}
	t.Notes = arithmetic(c, metrics)
	return t
}

func (l *layout) mainCaption(c cells.Cell) string {
	caption := "Geometric mean over blocks (rounds of all arms in random order), percentiles of all trials together, with its 95 % interval, unless that rounds to the figure itself"
	if severalArms(c) {
		caption += "; below it the ratio to " + l.baseline() + ": on primary metrics with the verdict and the interval that decides it, else with its own " + compare.Confidence(l.level()) + " interval"
	}
	return caption + "."
}

func (l *layout) judging(name string) part.Judging {
	if l.primary[name] {
		return part.Judged
	}
	return part.NotJudged
}

// ratioTo is an arm's ratio to the baseline; nil where there is nothing to say.
func (l *layout) ratioTo(c cells.Cell, a cells.Arm, name string) *part.Ratio {
	cmp, ok := l.compared[comparisonKey{c.Name, a.Name, name}]
	if !ok || withheld(cmp) {
		return nil
	}
	r := part.RatioOf(cmp)
	if cmp.Verdict == compare.NotJudged {
		if r != nil {
			r.Of = overShared(cmp)
		}
		return r
	}
	if r == nil {
		r = &part.Ratio{}
	}
	r.Verdict, r.Of = cmp.Verdict, overShared(cmp)
	return r
}

// allTable has every metric.
func (l *layout) allTable(c cells.Cell) part.Table {
	metrics := metricsOf(c)
	t := part.Table{
		Caption: "Every metric: mean over blocks, percentiles of all trials together, with its 95 % interval.",
		Columns: part.Titles("metric", "unit"), Notes: arithmetic(c, metrics), Folded: true,
	}
	for _, a := range c.Arms {
		t.Columns = append(t.Columns, part.Figures(l.called(a.Name))...)
	}
	for _, name := range metrics {
		s := scaleOf(c, name)
		row := []part.Datum{{Text: part.Label(name), Detail: name}, part.Word(s.Unit)} // here a reader finds the name to type
		for _, a := range c.Arms {
			row = append(row, armFigure(a, name, s))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// clientTable has a row for each client of each arm; none where there is but
// one. Units are the cell's, so that the clients compare with the sum above them.
func (l *layout) clientTable(c cells.Cell) part.Table {
	t := part.Table{
		Caption: "Each client by itself. Mean over blocks with its 95 % interval; geometric means add up only nearly.",
		Columns: []part.Column{{Title: "arm", Kind: part.Arms}, {Title: "client"}},
	}
	var metrics []string
	for _, a := range c.Arms {
		for _, client := range a.Clients {
			for _, m := range client.Metrics {
				if !slices.Contains(metrics, m.Metric) {
					metrics = append(metrics, m.Metric)
				}
			}
		}
	}
	for _, name := range metrics {
		t.Columns = append(t.Columns, metricColumn(name, scaleOf(c, name)))
	}
	for _, a := range c.Arms {
		for _, client := range a.Clients {
			row := []part.Datum{l.armDatum(a), part.Word(client.Name)}
			alone := cells.Arm{Metrics: client.Metrics}
			for _, name := range metrics {
				row = append(row, armFigure(alone, name, scaleOf(c, name)))
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}
