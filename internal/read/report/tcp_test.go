package report

import (
	"io"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/test/synthetic"
)

func TestTCPsAccountIsShownByEnd(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{
		Blocks: 2, Connections: []int{50}, Bare: true, Arms: []synthetic.Arm{{Name: "go-net"}, {Name: "asio"}},
	})
	for i := range records {
		server := &records[i].Workers[0]
		server.Open.Meter.TCP = &contract.TCP{Sockets: 50, Congestion: []string{"cubic"}}
		server.Close.Meter.TCP = &contract.TCP{
			Sockets: 50, Congestion: []string{"cubic"}, BusyNs: 50 * 1_500_000_000, ReceiveWindowNs: 50 * 300_000_000,
			SentSegments: 2000, Retransmits: 5, RTTNs: 230_000, CongestionWindow: 10, SegmentBytes: 65536, ReceiveBufferedBytes: 6 << 20,
		}
		if trials[i].Arm == "asio" { // connections made anew inside the window
			server.Close.Meter.TCP.Sockets--
		}
	}
	f, err := finding.Find(h, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	p := New(f)
	at := slices.IndexFunc(p.Evidence, func(s part.Section) bool { return s.ID == "tcp" })
	if at < 0 {
		t.Fatal("there is no section tcp")
	}
	tables := p.Evidence[at].Tables
	if len(tables) != 1 || len(tables[0].Rows) != 1 {
		t.Fatalf("%d tables, first %+v; want the server of go-net alone", len(tables), tables[0].Rows)
	}
	var row []string
	for _, d := range tables[0].Rows[0] {
		row = append(row, shown(d))
	}
	want := []string{"go-net (baseline)", "server", "50", "cubic", "230 µs", "640 KiB", "0.250 %", "3.00 MiB", "75.0 %", "20.0 %", "0 %"}
	if !slices.Equal(row, want) {
		t.Errorf("row %q\nwant %q", row, want)
	}
	if text := string(render(t, func(w io.Writer) error { return p.Markdown(w) })); !strings.Contains(text, "server.tcp_congestion") {
		t.Error("the settings lack the congestion control")
	}
}

func TestWithoutAnAccountThereIsNoSection(t *testing.T) {
	for _, s := range New(found(t, synthetic.Options{Blocks: 1, Bare: true})).Evidence {
		if s.ID == "tcp" {
			t.Errorf("section tcp of %d tables, though nobody accounted for connections", len(s.Tables))
		}
	}
}
