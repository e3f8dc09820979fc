package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
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
			s.Note = sentence("not searched: " + f.Reason)
		} else {
			s.Tables = []Table{l.needs(f)}
		}
		sections = append(sections, s)
	}
	return sections
}

// needs lists each arm's smallest combinations of levels that reach the share,
// and of an arm without one its best.
func (l *layout) needs(f view.Search) Table {
	s := scaleFor(f.Spec.Metric, f.Best.Metric.Value)
	share := percent(f.Spec.Share)
	t := Table{
		Caption: "For each arm the combinations of levels that reach " + share + " of the best and of which no smaller one does; of an arm that never reaches it, its best. " +
			"Shares are of the same block; intervals are 95 %.",
		Columns: slices.Concat(ofKind(Arms, "arm"), columns("reaches "+share), numbers(f.Spec.Least...),
			numbers(labelOf(f.Spec.Metric), "share of the best"), ofKind(Limits, "limit")),
	}
	for _, arm := range f.Reached {
		least := arm.Least
		if len(least) == 0 {
			least = []view.Candidate{arm.Best}
		}
		for _, c := range least {
			row := []Datum{l.named(arm.Arm), word(reaches(c, f.Spec.Share))}
			for _, level := range c.Levels {
				row = append(row, number(level.Text, ""))
			}
			t.Rows = append(t.Rows, append(row, amountOf(c.Metric, s), shareOfBest(f, c, s), word(string(c.Limit))))
		}
	}
	return t
}

// shareOfBest is what a combination reaches of the best one.
func shareOfBest(f view.Search, c view.Candidate, s metric.Scale) Datum {
	n := &Number{Text: percent(c.Share)}
	if c.Share != 1 { // the best by itself needs no interval
		n.Interval = percent(c.Low) + " to " + percent(c.High)
	}
	if c.Blocks < max(c.Metric.N, f.Best.Metric.N) {
		n.Note = s.Format(c.Value) + " ÷ " + s.Format(c.BestValue) + " " + s.Unit + " over " + quantity.Plural(c.Blocks, "shared block")
	}
	return Datum{Figure: n}
}

// reaches says whether a combination reaches the share of the best.
func reaches(c view.Candidate, share float64) string {
	switch {
	case c.Uncertain(share) && c.Share < share:
		return "perhaps not"
	case c.Uncertain(share):
		return "perhaps"
	case c.Share < share:
		return "no"
	}
	return "yes"
}
