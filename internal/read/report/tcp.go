package report

import (
	"cmp"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// tcpMetrics are what the kernel counts of an end's connections, without the
// end.
var tcpMetrics = []string{
	metric.TCPRTT, metric.TCPCongestionWindow, metric.TCPRetransmitShare, metric.TCPBusyShare, metric.TCPReceiveWindow, metric.TCPSendBuffer,
}

// tcp shows what the kernel counted of each end's connections, one table for
// each cell; none where it was not asked.
func (l *layout) tcp() part.Section {
	section := part.Section{
		ID: "tcp", Title: "TCP, as the kernel counted",
		Notes: []string{"Counters of each end's connections, read from outside the workers: means over blocks. Round trips and congestion windows are those " +
			"at the end of the window; the shares are of the window. An end is busy while it has data unsent or unacknowledged. The last two columns are the part of " +
			"that time in which the peer's receive window, or its own send buffer, held it back."},
	}
	heads := slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles("end"), part.Figures("connections"), part.Titles("congestion control"))
	for _, name := range tcpMetrics {
		heads = append(heads, part.Figures(metric.Shown(string(contract.Server)+"."+name).Heading)...)
	}
	section.Tables = l.endTables(heads, l.tcpRow)
	return section
}

// endTables has a folded table for each cell, with the rows of both ends of every arm that
// have one.
func (l *layout) endTables(heads []part.Column, rowOf func(c cells.Cell, a cells.Arm, end string) []part.Datum) []part.Table {
	var tables []part.Table
	for _, c := range l.Cells {
		t := part.Table{Caption: cmp.Or(l.cell(c.Name), "All trials") + ".", Folded: true, Columns: slices.Clone(heads)}
		for _, a := range c.Arms {
			for _, end := range []contract.Role{contract.Server, contract.Client} {
				if row := rowOf(c, a, string(end)); row != nil {
					t.Rows = append(t.Rows, row)
				}
			}
		}
		tables = append(tables, part.Bounded(t))
	}
	return tables
}

// tcpRow is one end of one arm; nil where the kernel was not asked about it.
func (l *layout) tcpRow(c cells.Cell, a cells.Arm, end string) []part.Datum {
	connections, known := a.Settings[end+"."+cells.TCPConnections]
	if !known {
		return nil
	}
	row := []part.Datum{l.armDatum(a), part.Word(end), part.Value(connections, ""), part.Word(cmp.Or(a.Settings[end+"."+cells.TCPCongestion], part.None))}
	for _, name := range tcpMetrics {
		d := part.Missing()
		if m, ok := summaryOf(a, end+"."+name); ok {
			d = part.InUnit(m.Value, scaleOf(c, end+"."+name))
		}
		row = append(row, d)
	}
	return row
}
