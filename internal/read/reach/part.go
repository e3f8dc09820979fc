package reach

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// headlineSentences is how many sentences of a reach its headline has: the best, and who
// comes near it with least.
const headlineSentences = 2

// Headline says with how little the best is reached in the first reach that has an
// answer; the report has the others.
func (all Reaches) Headline() part.Headline {
	for _, f := range all {
		if f.Sentence != "" {
			sentences := strings.SplitAfter(f.Sentence, ". ")
			for i := range sentences {
				sentences[i] = strings.TrimSuffix(sentences[i], " ")
			}
			return part.Headline{Sentences: sentences[:min(headlineSentences, len(sentences))]}
		}
	}
	return part.Headline{}
}

// Part has a section of every reach: the sentence, and what each arm needs.
func (all Reaches) Part() part.Part {
	p := part.Part{ID: "reaches", Title: "Reaches"}
	for i, f := range all {
		s := part.Section{
			ID:        fmt.Sprintf("reach-%d", i+1),
			Title:     cmp.Or(f.Spec.Title, "The least "+strings.Join(f.Spec.Least, " and ")+" for the best "+part.Label(f.Spec.Metric)),
			Sentences: []string{f.Sentence},
		}
		if f.Reason != "" {
			s.Sentences = []string{part.Sentence("no answer: " + f.Reason)}
		} else {
			s.Tables = []part.Table{f.table()}
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

// table lists each arm's smallest combinations of levels that reach the share,
// and of an arm without one its best.
func (f *Reach) table() part.Table {
	s := part.ScaleFor(f.Spec.Metric, f.Best.Metric.Value)
	share := part.Percent(f.Spec.Share)
	t := part.Table{
		Caption: "For each arm the combinations of levels that reach " + share + " of the best and of which no smaller one does; of an arm that never reaches it, its best. " +
			"Shares are of the same block; intervals are 95 %.",
		Columns: slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles("reaches "+share), part.Figures(f.Spec.Least...),
			part.Figures(part.Label(f.Spec.Metric), "share of the best"), part.OfKind(part.Limits, "limit")),
	}
	for _, arm := range f.Reached {
		least := arm.Least
		if len(least) == 0 {
			least = []Candidate{arm.Best}
		}
		for _, c := range least {
			row := []part.Datum{part.Word(arm.Arm), part.Word(reaches(c, f.Spec.Share))}
			for _, level := range c.Levels {
				row = append(row, part.Value(level.Text, ""))
			}
			t.Rows = append(t.Rows, append(row, part.AmountOf(c.Metric, s), f.shareOfBest(c, s), part.Word(string(c.Limit))))
		}
	}
	return t
}

// shareOfBest is what a combination reaches of the best one.
func (f *Reach) shareOfBest(c Candidate, s metric.Scale) part.Datum {
	n := &part.Number{Text: part.Percent(c.Share)}
	if c.Share != 1 { // the best by itself needs no interval
		n.Interval = part.Percent(c.Low) + " to " + part.Percent(c.High)
	}
	if c.Blocks < max(c.Metric.N, f.Best.Metric.N) {
		n.Note = s.Format(c.Value) + " ÷ " + s.Format(c.BestValue) + " " + s.Unit + " over " + quantity.Plural(c.Blocks, "shared block")
	}
	return part.Datum{Figure: n}
}

// reaches says whether a combination reaches the share of the best.
func reaches(c Candidate, share float64) string {
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
