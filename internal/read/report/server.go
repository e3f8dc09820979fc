package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
)

// server shows what a server that stood by itself counted: by arm where its
// segments match trials, and by segment. Nil when it gave no report.
func (l *layout) server() *Section {
	r := l.ServerReport
	if r == nil {
		return nil
	}
	return &Section{
		ID: "server", Title: "The server, as it counted itself",
		Note: fmt.Sprintf("%s on %s counted this by itself, by its own clock. CPU time is what it spent from the first connection of a trial to its last, "+
			"with connecting, warm-up and draining, divided by all exchanges in that time. Rate, cores and memory are those under load. "+
			"Nothing is divided by what a client counted, and no verdict rests on it.",
			or(r.Server, "The server"), strings.Join(r.Listen, " ")),
		Tables: slices.DeleteFunc([]Table{l.serverArms(*r), serverSegments(*r)}, func(t Table) bool { return len(t.Rows) == 0 }),
	}
}

func (l *layout) serverArms(r finding.ServerReport) Table {
	t := Table{Caption: "By arm: means over the blocks of the trials that its segments match. Intervals are 95 %."}
	several := slices.ContainsFunc(r.Arms, func(a finding.ServerArm) bool { return a.Cell != "" })
	if several {
		t.Columns = columns("cell")
	}
	largest := map[string]float64{}
	for _, a := range r.Arms {
		for _, m := range a.Metrics {
			largest[m.Metric] = max(largest[m.Metric], m.Value)
		}
	}
	scales := segmentScales(largest)
	t.Columns = slices.Concat(t.Columns, ofKind(Arms, "arm"), numbers("segments", "exchanges"), segmentColumns(scales))
	for _, a := range r.Arms {
		var row []Datum
		if several {
			row = words(or(a.Cell, "all"))
		}
		row = append(row, l.named(a.Arm), number(strconv.Itoa(a.Segments), ""), number(strconv.FormatInt(a.Exchanges, 10), ""))
		summed := cells.Arm{Metrics: a.Metrics}
		for i, m := range metric.OfSegments() {
			row = append(row, armFigure(summed, m.Name, scales[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	return bounded(t)
}

func serverSegments(r finding.ServerReport) Table {
	t := Table{Caption: "By segment: a row for each time in which clients drove the server.", Folded: len(r.Arms) > 0}
	largest := map[string]float64{}
	for _, s := range r.Segments {
		for name, value := range s.Values {
			largest[name] = max(largest[name], value)
		}
	}
	scales := segmentScales(largest)
	t.Columns = slices.Concat(numbers("segment"), columns("trials"), numbers("connections", "exchanges"), segmentColumns(scales))
	for _, s := range r.Segments {
		which := number(strconv.Itoa(s.Number), "")
		which.Detail = s.CutShort
		row := []Datum{which, word(or(strings.Join(s.Trials, ", "), none)), number(strconv.FormatInt(s.Connections, 10), ""), number(strconv.FormatInt(s.Exchanges, 10), "")}
		for i, m := range metric.OfSegments() {
			d := missing()
			if value, ok := s.Values[m.Name]; ok {
				d = number(scales[i].Format(value), "")
			}
			row = append(row, d)
		}
		t.Rows = append(t.Rows, row)
	}
	return bounded(t)
}

// segmentScales picks one unit for each metric of segments, by its largest value.
func segmentScales(largest map[string]float64) []metric.Scale {
	var scales []metric.Scale
	for _, m := range metric.OfSegments() {
		scales = append(scales, m.Scale(largest[m.Name]))
	}
	return scales
}

// segmentColumns heads a column for each metric of segments.
func segmentColumns(scales []metric.Scale) []Column {
	var list []Column
	for i, m := range metric.OfSegments() {
		list = append(list, Column{Title: m.Heading, Kind: Numbers, Unit: scales[i].Unit, Metric: m.Name})
	}
	return list
}
