package report

import (
	"fmt"
	"strings"

	"netdyno/internal/read/view"
)

// searches makes a section of every search that the study asked for: the
// sentence, and what each arm needs.
func (l *layout) searches() []Section {
	sections := make([]Section, 0, len(l.Findings.Searches))
	for i, f := range l.Findings.Searches {
		s := Section{
			ID:    fmt.Sprintf("search-%d", i+1),
			Title: or(f.Spec.Title, "The least "+strings.Join(f.Spec.Least, " and ")+" for the best "+labelOf(f.Spec.Metric)),
			Note:  f.Sentence,
		}
		if f.Reason != "" {
			s.Note = strings.TrimSpace("Not searched: " + strings.TrimSuffix(f.Reason, ".") + ".")
		} else {
			s.Tables = []Table{needs(f)}
		}
		sections = append(sections, s)
	}
	return sections
}

// needs lists each arm's smallest spots that come to the share, and its best.
func needs(f view.Search) Table {
	s := scaleFor(f.Spec.Metric, f.Best.Metric.Value)
	columns := []string{"arm", "comes to " + percent(f.Spec.Share)}
	for _, factor := range f.Spec.Least {
		columns = append(columns, "#"+factor)
	}
	columns = append(columns, "#"+labelOf(f.Spec.Metric), "#share of the best", "limit")
	t := Table{
		Caption: "Spots where an arm comes to " + percent(f.Spec.Share) + " of the best, and no other such spot of it needs less of one factor and no more of another; of arms that never come there, their best. Shares are of the same block; intervals are 95 %.",
		Columns: head(columns...),
	}
	for _, arm := range f.Reached {
		spots := arm.Least
		if len(spots) == 0 {
			spots = []view.Candidate{arm.Best}
		}
		for _, spot := range spots {
			row := words(arm.Arm, comes(spot, f.Spec.Share))
			for _, level := range spot.Levels {
				row = append(row, words(level.Text)...)
			}
			row = append(row, words(quantityText(spot.Metric.Value, s), percent(spot.Share), string(spot.Limit))...)
			row[len(row)-3].Detail = between(spot.Metric.Low, spot.Metric.High, s)
			if spot.Share != 1 { // the best by itself needs no interval
				row[len(row)-2].Detail = percent(spot.Low) + " to " + percent(spot.High)
			}
			if spot.Blocks < max(spot.Metric.N, f.Best.Metric.N) {
				row[len(row)-2].Detail += ", " + s.Format(spot.Value) + " ÷ " + s.Format(spot.BestValue) + " " + s.Unit + " over " + plural(spot.Blocks, "shared block")
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return t
}

// comes says whether a spot comes to the share of the best.
func comes(spot view.Candidate, share float64) string {
	switch {
	case spot.Uncertain(share) && spot.Share < share:
		return "perhaps not"
	case spot.Uncertain(share):
		return "perhaps"
	case spot.Share < share:
		return "no"
	}
	return "yes"
}
