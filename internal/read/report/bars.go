package report

import (
	"math"
	"strconv"
	"strings"

	"netdyno/internal/read/summary"
)

// barSeries are the steps of a histogram's bounds in each decade, the finest first; the
// times were counted by the first.
var barSeries = [][]float64{{1, 2, 3, 5}, {1, 2, 5}, {1, 3}, {1}}

const (
	barTail    = 0.005 // share of times in every load that needs no bar of its own at an end
	mostBars   = 4     // loads whose bars stand beside each other
	barColumns = 62    // columns for the bars of all loads, on a terminal of 80
	barText    = 9     // columns of them for a share and what is between two
	fullBar    = "█"
)

// barTable draws the times of every load as bars beside each other, in at most so many
// rows of logarithmic width. False where too many loads or no times are to be drawn.
func barTable(s *summary.Summary, rows int) (Table, bool) {
	if len(s.Loads) > mostBars {
		return Table{}, false
	}
	for _, series := range barSeries {
		if bounds := barBounds(s, series); len(bounds) > 1 && len(bounds) <= rows {
			return drawBars(s, bounds), true
		}
	}
	return Table{}, false
}

// barBounds are the upper bounds of the rows in µs; the last is +Inf where times lie
// beyond.
func barBounds(s *summary.Summary, series []float64) []float64 {
	var bounds []float64
	for decade := 1.0; decade < 1e9; decade *= 10 {
		for _, step := range series {
			bound := step * decade
			if most(s, bound) < barTail {
				continue
			}
			bounds = append(bounds, bound)
			if least(s, bound) > 1-barTail {
				if least(s, bound) < 1 {
					bounds = append(bounds, math.Inf(1))
				}
				return bounds
			}
		}
	}
	return append(bounds, math.Inf(1))
}

// most and least are the largest and the smallest share of a load's times up to a bound.
func most(s *summary.Summary, bound float64) float64 {
	share := 0.0
	for _, l := range s.Loads {
		share = max(share, upTo(l, bound))
	}
	return share
}

func least(s *summary.Summary, bound float64) float64 {
	share := 1.0
	for _, l := range s.Loads {
		if len(l.Histogram) > 0 {
			share = min(share, upTo(l, bound))
		}
	}
	return share
}

// upTo is the share of a load's times up to a bound in µs.
func upTo(l summary.Load, bound float64) float64 {
	all, within := int64(0), int64(0)
	for _, b := range l.Histogram {
		all += b.Count
		if b.UpToUs > 0 && b.UpToUs <= bound*1.0000001 || math.IsInf(bound, 1) { // a bound is a product
			within += b.Count
		}
	}
	return float64(within) / float64(max(all, 1))
}

func drawBars(s *summary.Summary, bounds []float64) Table {
	t := Table{Columns: columns(s.Loads[0].Times + " times")}
	for i := range bounds {
		t.Rows = append(t.Rows, words(boundText(bounds, i)))
	}
	longest := 0.0
	shares := make([][]float64, len(s.Loads))
	for i, l := range s.Loads {
		before := 0.0
		for _, bound := range bounds {
			share := upTo(l, bound)
			shares[i] = append(shares[i], max(0, share-before))
			longest, before = max(longest, share-before), share
		}
	}
	width := min(barColumns/len(s.Loads)-barText, barColumns/2)
	for i, l := range s.Loads {
		t.Columns = append(t.Columns, columns(shortened(s.Row(l), width+barText-2))...)
		for row, share := range shares[i] {
			length := int(math.Round(share / max(longest, 1e-9) * float64(width)))
			text := strings.Repeat(fullBar, length)
			t.Rows[row] = append(t.Rows[row], word(joined(" ", text, barShare(share))))
		}
	}
	return t
}

// boundText names a row: "≤ 50 µs", and "longer" behind the last bound.
func boundText(bounds []float64, row int) string {
	if math.IsInf(bounds[row], 1) {
		return "longer"
	}
	us, unit := math.Round(bounds[row]), "µs"
	switch {
	case us >= 1e6:
		us, unit = us/1e6, "s"
	case us >= 1e3:
		us, unit = us/1e3, "ms"
	}
	return "≤ " + strconv.FormatFloat(us, 'f', -1, 64) + " " + unit
}
