package report

import (
	"fmt"
	"slices"
	"strconv"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
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

// claimLines says in short what became of every claim.
func (l *layout) claimLines() []ClaimLine {
	lines := make([]ClaimLine, 0, len(l.Findings.Claims))
	for _, c := range l.Findings.Claims {
		ground := finding.ClaimGround(c)
		if c.Outcome == compare.NotTestable {
			ground = "because " + ground
		}
		lines = append(lines, ClaimLine{Outcome: string(c.Outcome), Title: c.Spec.Title, Ground: ground})
	}
	return lines
}

// evidenceOf lists the comparisons behind a claim: all of them must hold.
func evidenceOf(c compare.Claim) Table {
	t := Table{
		Caption: "Every condition of the claim, with the interval that decides it. All must hold.",
		Columns: slices.Concat(columns("metric", "ratio of", "claimed"), numbers("measured", "blocks"), columns("state")),
	}
	for _, e := range c.Evidence {
		p := c.Spec.Parts[e.Part]
		measured := missing()
		if e.Blocks > 0 {
			measured = Datum{Ratio: ratioOver(e.Blocks, e.Of, e.Ratio, e.Low, e.High)}
		}
		t.Rows = append(t.Rows, []Datum{
			word(p.Metric), word(e.What), word(compare.Claimed(p)), measured, number(strconv.Itoa(e.Blocks), ""),
			{Text: stateWords(c, e), Detail: e.Reason},
		})
	}
	return t
}

// stateWords says what became of one comparison in the words of its claim.
func stateWords(c compare.Claim, e compare.Evidence) string {
	return string(compare.OutcomeOf(e.State, c.Spec.Source != "", e.Untestable))
}
