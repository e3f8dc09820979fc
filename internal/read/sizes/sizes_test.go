package sizes

import (
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

func figure(x float64) cells.Figure {
	return cells.Figure{N: 7, Trials: 7, Value: x, Low: 0.9 * x, High: 1.1 * x}
}

// A cell has a table of all figures, a brief one for a terminal, and a chart; a column that no
// sort has a figure for is left out.
func TestPartHasTimesByClassAndSize(t *testing.T) {
	z := &Sizes{Sorts: []Sorts{
		{Cell: "rate=1000", Arm: "a", Open: true, Sizes: []Sort{
			{ToBytes: 64, Share: 0.9, Rate: figure(900), P50: figure(100), P99: figure(500)},
			{FromBytes: 1024, ToBytes: 4096, Share: 0.1, Rate: figure(100), P50: figure(1000), P99: figure(4000)},
		}},
		{Cell: "rate=1000", Arm: "b", Open: true, Sizes: []Sort{{ToBytes: 64, Share: 1, Rate: figure(1000), P50: figure(200)}}},
		{Cell: "rate=2000", Arm: "a", Classes: []Sort{{Class: "search", Share: 1, P50: figure(100), Bytes: figure(1e6)}}},
	}}
	p := z.Part()
	if len(p.Sections) != 2 || len(p.Sections[0].Tables) != 1 || p.Sections[0].Figure == nil || p.Sections[1].Figure != nil {
		t.Fatalf("part %+v", p)
	}
	whole := p.Sections[0].Tables[0]
	if len(whole.Rows) != 3 || len(whole.Columns) != 6 || whole.Rows[1][1].Text != "1 KiB to 4 KiB" || whole.Rows[0][1].Text != "below 64 B" {
		t.Errorf("table %+v", whole)
	}
	brief := whole.Terminal
	if len(brief.Rows) != 2 || len(brief.Columns) != 3 || brief.Rows[0][1].Figure == nil || brief.Rows[1][2].Text != part.None || !strings.HasPrefix(brief.Caption, "Response p99, ms") {
		t.Errorf("on a terminal %+v", brief)
	}
	if lines := p.Sections[0].Figure.Lines; len(lines.Lines) != 1 || len(lines.Lines[0].Points) != 2 {
		t.Errorf("chart %+v", lines)
	}
	classes := p.Sections[1].Tables[0]
	if classes.Columns[1].Title != "class" || classes.Columns[3].Title != "bytes both ways" || classes.Rows[0][1].Text != "search" {
		t.Errorf("classes %+v", classes)
	}
	if none := (*Sizes)(nil).Part(); len(none.Sections) != 0 {
		t.Errorf("nothing is %+v", none)
	}
}
