package report

import (
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

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
