package report

import (
	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"slices"
)

// tcpMetrics are what the kernel counts of an end's connections, without the
// end.
var tcpMetrics = []string{
	"tcp_rtt_us", "tcp_congestion_window_bytes", "tcp_retransmit_share", "tcp_busy_share", "tcp_receive_window_share", "tcp_send_buffer_share",
}

// tcp shows what the kernel counted of each end's connections, one table for
// each cell; none where it was not asked.
func (l *layout) tcp() Section {
	section := Section{
		ID: "tcp", Title: "TCP, as the kernel counted",
		Note: "Counters of each end's connections, read from outside the workers: means over blocks. Round trips and congestion windows are those " +
			"at the end of the window; the shares are of the window. An end is busy while it has data unsent or unacknowledged. The last two columns are the part of " +
			"that time in which the peer's receive window, or its own send buffer, held it back.",
	}
	heads := slices.Concat(ofKind(Arms, "arm"), columns("end"), numbers("connections"), columns("congestion control"))
	for _, name := range tcpMetrics {
		heads = append(heads, numbers(metric.Shown(string(contract.Server)+"."+name).Heading)...)
	}
	section.Tables = l.endTables(heads, l.tcpRow)
	return section
}

// endTables has a folded table for each cell, with the rows of both ends of every arm that
// have one.
func (l *layout) endTables(heads []Column, rowOf func(c cells.Cell, a cells.Arm, end string) []Datum) []Table {
	var tables []Table
	for _, c := range l.Cells {
		t := Table{Caption: or(c.Name, "All trials") + ".", Folded: true, Columns: slices.Clone(heads)}
		for _, a := range c.Arms {
			for _, end := range []contract.Role{contract.Server, contract.Client} {
				if row := rowOf(c, a, string(end)); row != nil {
					t.Rows = append(t.Rows, row)
				}
			}
		}
		tables = append(tables, bounded(t))
	}
	return tables
}

// tcpRow is one end of one arm; nil where the kernel was not asked about it.
func (l *layout) tcpRow(c cells.Cell, a cells.Arm, end string) []Datum {
	connections, known := a.Settings[end+"."+cells.TCPConnections]
	if !known {
		return nil
	}
	row := []Datum{l.armDatum(a), word(end), number(connections, ""), word(or(a.Settings[end+"."+cells.TCPCongestion], none))}
	for _, name := range tcpMetrics {
		d := missing()
		if m, ok := summaryOf(a, end+"."+name); ok {
			d = inUnit(m.Value, scaleOf(c, end+"."+name))
		}
		row = append(row, d)
	}
	return row
}
