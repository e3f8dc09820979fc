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
	metric.TCPRTT, metric.TCPCongestionWindow, metric.TCPRetransmitShare, metric.Unread, metric.TCPBusyShare, metric.TCPReceiveWindow, metric.TCPSendBuffer,
}

// tcp shows what the kernel counted of each end's connections, one table for
// each cell; none where it was not asked.
func (l *layout) tcp() part.Section {
	section := part.Section{
		ID: "tcp", Title: "TCP, as the kernel counted",
		Notes: []string{"Counters of each end's connections, read from outside the workers: means over blocks. Round trips and congestion windows are those " +
			"at the end of the window; the shares are of the window. Unread is what stood in the receive queues, from 2 MiB on more than " +
			"a core's cache holds. An end is busy while it has data unsent or unacknowledged. The last two columns are the part of that time in which the peer's receive window, or its own send buffer, held it back."},
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

// udpMetrics are what the kernel counts of an end's datagrams, without the end.
var udpMetrics = []string{metric.UDPDrops, metric.UDPUndelivered, metric.UDPFailedSends}

// udp shows what the kernel counted of UDP, one table for each cell; none where no
// transport is over it.
func (l *layout) udp() part.Section {
	section := part.Section{
		ID: "udp", Title: "UDP, as the kernel counted",
		Notes: []string{"Read from outside the workers: means over blocks. A datagram is dropped where a socket's receive buffer is full, which the " +
			"transport then has to notice and repair; a larger receive buffer (net.core.rmem_max) or a faster reader prevents it. What is not delivered and " +
			"what could not be sent are counted for the whole network namespace, on loopback for both ends together."},
	}
	heads := slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles("end"))
	for _, name := range udpMetrics {
		heads = append(heads, part.Figures(metric.Shown(string(contract.Server)+"."+name).Heading)...)
	}
	section.Tables = l.endTables(append(heads, part.Figures(metric.Shown(metric.DatagramsPerSend).Heading)...), l.udpRow)
	return section
}

// udpRow is one end of one arm; nil where the kernel was not asked about it.
func (l *layout) udpRow(c cells.Cell, a cells.Arm, end string) []part.Datum {
	if _, known := summaryOf(a, end+"."+udpMetrics[1]); !known {
		return nil
	}
	row := []part.Datum{l.armDatum(a), part.Word(end)}
	for _, name := range []string{end + "." + udpMetrics[0], end + "." + udpMetrics[1], end + "." + udpMetrics[2], metric.DatagramsPerSend} {
		d := part.Missing()
		if m, ok := summaryOf(a, name); ok {
			d = part.InUnit(m.Value, scaleOf(c, name))
		}
		row = append(row, d)
	}
	return row
}

// gigabits is the link's own unit, in which goodput is shown too on a link whose rate
// is known, with the cores that it takes.
var gigabits = metric.Scale{Factor: 1e9 / 8, Unit: "Gbit/s"}

// onLink tells whether a cell ran over a link whose rate is known: there the metric
// of its share exists.
func onLink(c cells.Cell) bool {
	return slices.ContainsFunc(c.Arms, func(a cells.Arm) bool {
		_, known := summaryOf(a, metric.LinkRateShare)
		return known
	})
}

// withCores puts the server's cores behind the goodput of a link.
func withCores(c cells.Cell, metrics []string) []string {
	at := slices.Index(metrics, metric.Goodput)
	if at < 0 || !onLink(c) || slices.Contains(metrics, metric.OfServer+metric.Cores) {
		return metrics
	}
	return slices.Insert(metrics, at+1, metric.OfServer+metric.Cores)
}

// inGigabits is the column of a goodput in Gbit/s, with a figure for each arm.
func inGigabits(arms []cells.Arm) (part.Column, []part.Datum) {
	column := metricColumn(metric.Goodput, gigabits)
	var figures []part.Datum
	for _, a := range arms {
		figures = append(figures, armFigure(a, metric.Goodput, gigabits))
	}
	return column, figures
}
