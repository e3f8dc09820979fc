package report

import (
	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
)

// tcpColumns are the metrics of TCP's own account, by end.
var tcpColumns = []string{
	"tcp_rtt_us", "tcp_congestion_window_bytes", "tcp_retransmit_share", "tcp_busy_share", "tcp_receive_window_share", "tcp_send_buffer_share",
}

// tcp shows what the kernel knows of each end's connections, one table for each
// cell; none where nobody accounted for them.
func (l *layout) tcp() Section {
	section := Section{
		ID: "tcp", Title: "TCP's own account",
		Note: "What the kernel tells of each end's connections, from outside the workers: means over blocks. Round trips and congestion windows are those " +
			"at the close; the shares are of the window. An end is busy while it has data unsent or unacknowledged; of that time the other end's " +
			"receive window, or its own send buffer, held it back.",
	}
	for _, c := range l.Cells {
		t := Table{
			Caption: or(c.Name, "All trials") + ".", Folded: true,
			Columns: head("arm", "end", "#connections", "congestion control", "#round trip", "#congestion window", "#retransmitted", "#busy", "#held by the window", "#held by the buffer"),
		}
		for _, a := range c.Arms {
			for _, role := range []contract.Role{contract.Server, contract.Client} {
				if row := l.tcpRow(c, a, string(role)+"."); row != nil {
					t.Rows = append(t.Rows, row)
				}
			}
		}
		section.Tables = append(section.Tables, bounded(t))
	}
	return section
}

// tcpRow is one end of one arm; nil without an account of it.
func (l *layout) tcpRow(c cells.Cell, a cells.Arm, end string) []Datum {
	connections, known := a.Settings[end+cells.TCPConnections]
	if !known {
		return nil
	}
	row := append([]Datum{l.armDatum(a)}, words(end[:len(end)-1], connections, or(a.Settings[end+cells.TCPCongestion], "–"))...)
	for _, metric := range tcpColumns {
		datum := Datum{Text: "–"}
		if m, ok := summaryOf(a, end+metric); ok {
			s := scaleOf(c, end+metric)
			datum = Datum{Text: s.Format(m.Value) + " " + s.Unit}
		}
		row = append(row, datum)
	}
	return row
}
