package report

import (
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/read/part"
	"netdyno/internal/read/summary"
)

const (
	mostBars   = 4  // loads whose bars stand beside each other
	barColumns = 62 // columns for the bars of all loads, on a terminal of 80
	barText    = 9  // columns of them for a share and what is between two
	fullBar    = "█"
)

// barTable draws the times of every load as bars beside each other, in at most so many
// rows of logarithmic width. False where too many loads or no times are to be drawn.
func barTable(s *summary.Summary, rows int) (part.Table, bool) {
	if len(s.Loads) > mostBars {
		return part.Table{}, false
	}
	bounds := s.Bounds(rows)
	if bounds == nil {
		return part.Table{}, false
	}
	return drawBars(s, bounds), true
}

func drawBars(s *summary.Summary, bounds []float64) part.Table {
	t := part.Table{Columns: part.Titles(s.Loads[0].Times + " times")}
	for i := range bounds {
		t.Rows = append(t.Rows, part.Row(boundText(bounds, i)))
	}
	longest := 0.0
	shares := make([][]float64, len(s.Loads))
	for i, l := range s.Loads {
		shares[i] = l.Shares(bounds)
		longest = max(longest, slices.Max(shares[i]))
	}
	width := min(barColumns/len(s.Loads)-barText, barColumns/2)
	for i, l := range s.Loads {
		t.Columns = append(t.Columns, part.Titles(shortened(s.Row(l), width+barText-2))...)
		for row, share := range shares[i] {
			length := int(share/max(longest, 1e-9)*float64(width) + 0.5)
			text := strings.Repeat(fullBar, length)
			t.Rows[row] = append(t.Rows[row], part.Word(part.Joined(" ", text, barShare(share))))
		}
	}
	return t
}

// boundText names a row: "≤ 50 µs", and "longer" behind the last bound.
func boundText(bounds []float64, row int) string {
	us, unit := bounds[row], "µs"
	if us == summary.Unbounded {
		return "longer"
	}
	switch {
	case us >= 1e6:
		us, unit = us/1e6, "s"
	case us >= 1e3:
		us, unit = us/1e3, "ms"
	}
	return "≤ " + strconv.FormatFloat(us, 'f', -1, 64) + " " + unit
}
