package part_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// A figure of too few blocks, or whose interval decides nothing, is not shown: a figure
// that is printed is believed.
func TestWhatIsNotKnownIsNotShown(t *testing.T) {
	s := metric.Scale{Factor: 1, Unit: "s"}
	for name, d := range map[string]part.Datum{
		"a wide interval": part.AmountOf(cells.Figure{Value: 1, Low: 0.01, High: 100, N: 8, Of: 8}, s),
		"a wide ratio":    {Ratio: part.RatioOver(8, 8, 1, 0.01, 100)},
	} {
		text := ""
		if d.Figure != nil {
			text = d.Figure.Full()
		} else {
			text = d.Ratio.Text + d.Ratio.Interval
		}
		if !strings.HasPrefix(text, cells.Unknown) || strings.Contains(text, "100") {
			t.Errorf("%s is shown as %q", name, text)
		}
	}
	if d := part.AmountOf(cells.Figure{Value: 2, Low: 1.9, High: 2.1, N: 8, Of: 8}, s); d.Figure.Full() != "2.00 s (1.90–2.10)" {
		t.Errorf("%q", d.Figure.Full())
	}
}

// What a table leaves out for a terminal stays in the table itself.
func TestShortFormsLeaveTheTableAlone(t *testing.T) {
	whole := part.Table{
		Columns: append(part.Titles("arm", "what"), part.Figures("rate", "ratio")...),
		Rows:    [][]part.Datum{append(part.Row("a", "b"), part.Amount(2, 1.9, 2.1, metric.Scale{Factor: 1}), part.Datum{Ratio: part.RatioOver(8, 8, 2, 1.9, 2.1)})},
	}
	before := fmt.Sprintf("%+v %+v", *whole.Rows[0][2].Figure, *whole.Rows[0][3].Ratio)
	short := whole.Between(2, 4).Plain().WithoutIntervals()
	if len(short.Columns) != 3 || short.Rows[0][0].Text != "a" || short.Rows[0][1].Figure.Full() != "2.00" || short.Rows[0][2].Ratio.Interval != "" {
		t.Errorf("%+v", short.Rows)
	}
	if after := fmt.Sprintf("%+v %+v", *whole.Rows[0][2].Figure, *whole.Rows[0][3].Ratio); after != before || len(whole.Columns) != 4 {
		t.Errorf("the table became %s, it was %s", after, before)
	}
}

func TestALongTableSaysWhatItLeavesOut(t *testing.T) {
	var long part.Table
	for i := range 600 {
		long.Rows = append(long.Rows, []part.Datum{part.Count(i)})
	}
	if cut := part.Bounded(long); len(cut.Rows) != 500 || cut.Caption != " 100 more rows are in findings.json." {
		t.Errorf("%d rows, %q", len(cut.Rows), cut.Caption)
	}
	if short := (part.Table{Rows: long.Rows[:3]}); !reflect.DeepEqual(part.Bounded(short), short) {
		t.Error("a short table is cut")
	}
}
