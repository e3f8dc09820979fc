package report

import (
	"fmt"

	"netdyno/internal/read/compare"
)

// claims makes a section of every claim that the study declares: what became of
// it, and the comparisons that it demands.
func (l *layout) claims() []Section {
	sections := make([]Section, 0, len(l.Findings.Claims))
	for i, c := range l.Findings.Claims {
		s := Section{ID: fmt.Sprintf("claim-%d", i+1), Title: c.Spec.Title, Note: c.Sentence}
		if c.Spec.Source != "" {
			s.Note += " Claimed by: " + c.Spec.Source + "."
		}
		if len(c.Evidence) > 1 { // the sentence has all of one
			s.Tables = []Table{evidenceOf(c)}
		}
		sections = append(sections, s)
	}
	return sections
}

// evidenceOf lists the comparisons behind a claim: all of them must hold.
func evidenceOf(c compare.Claim) Table {
	t := Table{
		Caption: "What the claim demands, all of it, with " + confidence(c.Level) + " intervals.",
		Columns: head("metric", "ratio of", "claimed", "#measured", "#blocks", "state"),
	}
	for _, e := range c.Evidence {
		p := c.Spec.Parts[e.Part]
		row := words(p.Metric, e.What, compare.Claimed(p), "–", fmt.Sprint(e.Blocks), string(e.State))
		if e.Blocks > 0 {
			row[3] = Datum{Text: ratio(e.Ratio), Detail: ratioInterval(e.Low, e.High)}
		}
		row[5].Detail = e.Reason
		t.Rows = append(t.Rows, row)
	}
	return t
}
