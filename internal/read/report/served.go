package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/finding"
)

// servedID marks the section of a server's own account.
const servedID = "served"

// servedColumns are the metrics of a segment that the tables show.
var servedColumns = []string{
	"segment.exchanges_per_s", "segment.cpu_us_per_exchange", "segment.cpu_s_per_gb", "segment.cores", "segment.rss_bytes",
}

var servedTitles = []string{"#rate", "#CPU per exchange", "#CPU per GB", "#cores", "#memory"}

// served shows what a server that stood by itself counted: by arm where its
// segments match trials, and by segment. None when it gave no account.
func (l *layout) served() Section {
	section := Section{ID: servedID}
	if l.ServerReport == nil {
		return section
	}
	section.Title = "The server, by its own account"
	section.Note = fmt.Sprintf("%s on %s counted this alone, by its own clock. CPU time is all that it spent from the first connection of a trial to its last, "+
		"connecting, warm-up and draining included, over all that it exchanged in that time; rate, cores and memory are those under load. "+
		"None of it is divided by what a client counted, and no verdict rests on it.",
		or(l.ServerReport.Server, "The server"), strings.Join(l.ServerReport.Listen, " "))
	section.Tables = []Table{l.servedArms(), l.servedSegments()}
	return section
}

func (l *layout) servedArms() Table {
	t := Table{Caption: "By arm: means over the blocks of the trials that its segments match, where shown with 95 % intervals.", Columns: head("arm", "#segments", "#exchanges")}
	t.Columns = append(t.Columns, head(servedTitles...)...)
	several := slices.ContainsFunc(l.ServerReport.Arms, func(a finding.ServerArm) bool { return a.Cell != "" })
	if several {
		t.Columns = slices.Insert(t.Columns, 0, head("cell")...)
	}
	scales := l.servedScales(func(add func(string, float64)) {
		for _, a := range l.ServerReport.Arms {
			for _, m := range a.Metrics {
				add(m.Metric, m.Value)
			}
		}
	})
	for _, a := range l.ServerReport.Arms {
		row := []Datum{{Text: a.Arm}, {Text: fmt.Sprint(a.Segments)}, {Text: fmt.Sprint(a.Exchanges)}}
		if place, ok := l.place[a.Arm]; ok {
			row[0].Arm = &place
		}
		if several {
			row = slices.Insert(row, 0, Datum{Text: or(a.Cell, "all")})
		}
		for _, metric := range servedColumns {
			row = append(row, servedDatum(a, metric, scales[metric]))
		}
		t.Rows = append(t.Rows, row)
	}
	units(&t, scales)
	return bounded(t)
}

func servedDatum(a finding.ServerArm, name string, s metric.Scale) Datum {
	for _, m := range a.Metrics {
		if m.Metric == name {
			d := Datum{Text: s.Format(m.Value)}
			if m.N > 1 {
				d.Detail = s.Interval(m.Low, m.High)
			}
			return d
		}
	}
	return Datum{Text: "–"}
}

func (l *layout) servedSegments() Table {
	t := Table{
		Caption: "By segment: each time in which the server was driven.", Folded: len(l.ServerReport.Arms) > 0,
		Columns: append(head("#segment", "trials", "#connections", "#exchanges"), head(servedTitles...)...),
	}
	scales := l.servedScales(func(add func(string, float64)) {
		for _, s := range l.ServerReport.Segments {
			for metric, x := range s.Values {
				add(metric, x)
			}
		}
	})
	for _, s := range l.ServerReport.Segments {
		row := words(fmt.Sprint(s.Number), or(strings.Join(s.Trials, ", "), "–"), fmt.Sprint(s.Connections), fmt.Sprint(s.Exchanges))
		row[0].Detail = s.CutShort
		for _, metric := range servedColumns {
			d := Datum{Text: "–"}
			if x, ok := s.Values[metric]; ok {
				d.Text = scales[metric].Format(x)
			}
			row = append(row, d)
		}
		t.Rows = append(t.Rows, row)
	}
	units(&t, scales)
	return bounded(t)
}

// servedScales picks one unit for each metric, by its largest value.
func (l *layout) servedScales(each func(add func(name string, value float64))) map[string]metric.Scale {
	largest := map[string]float64{}
	each(func(name string, value float64) { largest[name] = max(largest[name], value) })
	scales := map[string]metric.Scale{}
	for _, name := range servedColumns {
		scales[name] = scaleFor(name, largest[name])
	}
	return scales
}

// units heads the last columns of a table with their scales.
func units(t *Table, scales map[string]metric.Scale) {
	first := len(t.Columns) - len(servedColumns)
	for i, metric := range servedColumns {
		t.Columns[first+i].Unit = scales[metric].Unit
	}
}
