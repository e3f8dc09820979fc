package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// wide is what the main table shows when it was measured, beside the study's
// primary metrics; narrow is the terminal's choice of it.
var (
	wide   = []string{"exchanges_per_s", "goodput_bytes_per_s", "p50_us", "p99_us", "server.cpu_us_per_exchange", "client.cpu_us_per_exchange", "server.peak_rss_bytes"}
	narrow = []string{"exchanges_per_s", "p50_us", "p99_us", "server.cpu_us_per_exchange"}
)

func (l *layout) cells() []Cell {
	cells := make([]Cell, 0, len(l.Cells))
	budget := lineBudget(len(l.Cells))
	for i, c := range l.Cells {
		compact := l.values(c, l.choose(c, narrow))
		values := compact
		values.Caption = "Geometric means over blocks"
		cells = append(cells, Cell{
			ID:      fmt.Sprintf("cell-%d", i+1),
			Title:   or(c.Name, "Results"),
			Main:    l.mainTable(c),
			Compact: l.withRatios(c, compact),
			Values:  withLimit(c, values),
			Ratios:  l.ratioTable(c),
			Besides: l.besides(c),
			Details: l.details(c),
			All:     l.allTable(c),
			Figures: l.figures(i, c, budget),
			Profile: l.profile(c.Name),
		})
	}
	return cells
}

// choose resolves a list of metric names against what the cell measured:
// "p50_us" is the response time of an open loop, else the service time. The
// study's primary metrics come first.
func (l *layout) choose(c cells.Cell, names []string) []string {
	measured := metricsOf(c)
	loop := "service_"
	if slices.Contains(measured, "response_p50_us") {
		loop = "response_"
	}
	var chosen []string
	add := func(metric string) {
		if slices.Contains(measured, metric) && !slices.Contains(chosen, metric) {
			chosen = append(chosen, metric)
		}
	}
	for _, name := range names {
		if strings.HasPrefix(name, "p") {
			name = loop + name
		}
		add(name)
	}
	for _, metric := range l.Header.Study.Compare.Primary {
		add(metric)
	}
	for _, metric := range leftOver(c) {
		add(metric)
	}
	return chosen
}

// metricsOf lists what any arm of the cell has, in the registry's order.
func metricsOf(c cells.Cell) []string {
	var metrics []string
	for _, a := range c.Arms {
		for i, m := range a.Metrics {
			if slices.Contains(metrics, m.Metric) {
				continue
			}
			// An arm that lacks some metrics must not push the others' to the end.
			place := len(metrics)
			if i > 0 {
				if before := slices.Index(metrics, a.Metrics[i-1].Metric); before >= 0 {
					place = before + 1
				}
			}
			metrics = slices.Insert(metrics, place, m.Metric)
		}
	}
	return metrics
}

func summaryOf(a cells.Arm, metric string) (cells.Summary, bool) {
	for _, s := range a.Metrics {
		if s.Metric == metric {
			return s, true
		}
	}
	return cells.Summary{}, false
}

// scaleOf decides a metric's unit for one cell by its largest figure.
func scaleOf(c cells.Cell, metric string) metric.Scale {
	largest := 0.0
	for _, a := range c.Arms {
		if s, ok := summaryOf(a, metric); ok {
			largest = max(largest, s.Value)
		}
	}
	return scaleFor(metric, largest)
}

func column(c cells.Cell, metric string) (Column, metric.Scale) {
	s := scaleOf(c, metric)
	return Column{Title: labelOf(metric), Unit: s.Unit, Metric: metric, Number: true}, s
}

func (l *layout) armDatum(a cells.Arm) Datum {
	place := l.place[a.Name]
	text := a.Name
	if a.Baseline {
		text += " (baseline)"
	}
	return Datum{Text: text, Arm: &place}
}

// table lays out arms as rows and metrics as columns.
func (l *layout) table(c cells.Cell, metrics []string, value func(cells.Arm, cells.Summary, metric.Scale) Datum) Table {
	t := Table{Columns: head("arm")}
	for _, a := range c.Arms {
		t.Rows = append(t.Rows, []Datum{l.armDatum(a)})
	}
	for _, metric := range metrics {
		col, s := column(c, metric)
		t.Columns = append(t.Columns, col)
		for i, a := range c.Arms {
			datum := Datum{Text: "–"}
			if summary, ok := summaryOf(a, metric); ok {
				datum = value(a, summary, s)
			}
			t.Rows[i] = append(t.Rows[i], datum)
		}
	}
	t.Notes = arithmetic(c, metrics)
	return t
}

// values are the figures alone.
func (l *layout) values(c cells.Cell, metrics []string) Table {
	return l.table(c, metrics, func(a cells.Arm, m cells.Summary, s metric.Scale) Datum {
		return Datum{Text: figureText(a, m, s)}
	})
}

func (l *layout) mainTable(c cells.Cell) Table {
	t := l.table(c, l.primaryFirst(l.choose(c, wide)), func(a cells.Arm, m cells.Summary, s metric.Scale) Datum {
		datum := figureOf(a, m, s)
		cmp, ok := l.compared[comparisonKey{c.Name, a.Name, m.Metric}]
		if ok && cmp.Verdict != compare.NotJudged {
			datum.Verdict = cmp.Verdict
		}
		if ok && cmp.Ratio > 0 && !withheld(cmp) {
			datum.Ratio, datum.Within, datum.Of = ratio(cmp.Ratio), ratioInterval(cmp.Low, cmp.High), shared(cmp, s)
		}
		return datum
	})
	t.Caption = "Geometric mean over blocks with its 95 % interval"
	if severalArms(c) {
		t.Caption += "; below it the ratio to " + or(l.Header.Study.Compare.Baseline, "the baseline") +
			" with its " + confidence(l.level()) + " interval and, on primary metrics, the verdict"
	}
	t.Caption += "."
	for i := range t.Columns {
		compared := slices.ContainsFunc(t.Rows, func(row []Datum) bool { return row[i].Ratio != "" })
		t.Columns[i].NotJudged = compared && !l.primary[t.Columns[i].Metric]
	}
	t.Columns = append(t.Columns, Column{Title: "limit"})
	for i, a := range c.Arms {
		t.Rows[i] = append(t.Rows[i], Datum{Text: string(a.Limit), Detail: a.LimitProof})
	}
	return t
}

// primaryFirst moves the primary metrics, which are judged, before the others.
func (l *layout) primaryFirst(metrics []string) []string {
	rank := func(metric string) int {
		if l.primary[metric] {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(metrics, func(a, b string) int { return rank(a) - rank(b) })
	return metrics
}

// withheld tells of an explored comparison whose figures may not be compared:
// its ratio is not shown.
func withheld(c compare.Comparison) bool { return c.Verdict == compare.NotJudged && c.Reason != "" }

func withLimit(c cells.Cell, t Table) Table {
	t.Columns = append(slices.Clone(t.Columns), Column{Title: "limit"})
	t.Rows = slices.Clone(t.Rows)
	for i, a := range c.Arms {
		t.Rows[i] = append(slices.Clone(t.Rows[i]), Datum{Text: string(a.Limit)})
	}
	return t
}

// allTable has every metric. It alone shows medians, in columns of their own.
func (l *layout) allTable(c cells.Cell) Table {
	metrics := metricsOf(c)
	t := l.turned(c, metrics, "Every metric: mean over blocks with 95 % interval, and the median of the trials, which nothing is compared by.")
	t.Folded = true
	for i := len(c.Arms) - 1; i >= 0; i-- {
		at := i + 3 // behind the metric, its unit and the arm's figure
		t.Columns = slices.Insert(t.Columns, at, Column{Title: "its median", Number: true})
		for k, metric := range metrics {
			median := Datum{Text: "–"}
			if m, ok := summaryOf(c.Arms[i], metric); ok {
				median.Text = scaleOf(c, metric).Format(m.Median)
			}
			t.Rows[k] = slices.Insert(t.Rows[k], at, median)
		}
	}
	return t
}
