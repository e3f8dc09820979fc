package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
)

// server shows what a server that stood by itself counted: by arm where its
// segments match trials, and by segment. Nil when it gave no report.
func (l *layout) server() *part.Section {
	r := l.ServerReport
	if r == nil {
		return nil
	}
	return &part.Section{
		ID: "server", Title: "The server, as it counted itself",
		Sentences: []string{fmt.Sprintf("%s on %s counted this by itself, by its own clock. CPU time is what it spent from the first connection of a trial to its last, "+
			"with connecting, warm-up and draining, divided by all exchanges in that time. Rate, cores and memory are those under load. "+
			"Nothing is divided by what a client counted, and no verdict rests on it.",
			cmp.Or(r.Server, "The server"), strings.Join(r.Listen, " "))},
		Tables: slices.DeleteFunc([]part.Table{l.serverArms(*r), serverSegments(*r)}, func(t part.Table) bool { return len(t.Rows) == 0 }),
	}
}

func (l *layout) serverArms(r finding.ServerReport) part.Table {
	t := part.Table{Caption: "By arm: means over the blocks of the trials that its segments match. Intervals are 95 %."}
	several := slices.ContainsFunc(r.Arms, func(a finding.ServerArm) bool { return a.Cell != "" })
	if several {
		t.Columns = part.Titles("cell")
	}
	largest := map[string]float64{}
	for _, a := range r.Arms {
		for _, m := range a.Metrics {
			largest[m.Metric] = max(largest[m.Metric], m.Value)
		}
	}
	scales := segmentScales(largest)
	t.Columns = slices.Concat(t.Columns, part.OfKind(part.Arms, "arm"), part.Figures("segments", "exchanges"), segmentColumns(scales))
	for _, a := range r.Arms {
		var row []part.Datum
		if several {
			row = part.Row(cmp.Or(a.Cell, "all"))
		}
		row = append(row, l.named(a.Arm), part.Value(strconv.Itoa(a.Segments), ""), part.Value(strconv.FormatInt(a.Exchanges, 10), ""))
		summed := cells.Arm{Metrics: a.Metrics}
		for i, m := range metric.OfSegments() {
			row = append(row, armFigure(summed, m.Name, scales[i]))
		}
		t.Rows = append(t.Rows, row)
	}
	return part.Bounded(t)
}

func serverSegments(r finding.ServerReport) part.Table {
	t := part.Table{Caption: "By segment: a row for each time in which clients drove the server.", Folded: len(r.Arms) > 0}
	largest := map[string]float64{}
	for _, s := range r.Segments {
		for name, value := range s.Values {
			largest[name] = max(largest[name], value)
		}
	}
	scales := segmentScales(largest)
	t.Columns = slices.Concat(part.Figures("segment"), part.Titles("trials"), part.Figures("connections", "exchanges"), segmentColumns(scales))
	for _, s := range r.Segments {
		which := part.Value(strconv.Itoa(s.Number), "")
		which.Detail = s.CutShort
		row := []part.Datum{which, part.Word(cmp.Or(strings.Join(s.Trials, ", "), part.None)), part.Value(strconv.FormatInt(s.Connections, 10), ""), part.Value(strconv.FormatInt(s.Exchanges, 10), "")}
		for i, m := range metric.OfSegments() {
			d := part.Missing()
			if value, ok := s.Values[m.Name]; ok {
				d = part.Value(scales[i].Format(value), "")
			}
			row = append(row, d)
		}
		t.Rows = append(t.Rows, row)
	}
	return part.Bounded(t)
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
func segmentColumns(scales []metric.Scale) []part.Column {
	var list []part.Column
	for i, m := range metric.OfSegments() {
		list = append(list, part.Column{Title: m.Heading, Kind: part.Numbers, Unit: scales[i].Unit, Metric: m.Name})
	}
	return list
}
