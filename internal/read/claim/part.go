package claim

import (
	"fmt"
	"slices"

	"netdyno/internal/read/part"
)

// Headline says how the claims came out.
func (all Claims) Headline() part.Headline {
	if len(all) == 0 {
		return part.Headline{}
	}
	return part.Headline{Place: part.Folded, Sentences: []string{all.sentence()}}
}

// Part has a section of every claim: what became of it, and the comparisons that it
// demands.
func (all Claims) Part() part.Part {
	p := part.Part{ID: "claims", Title: "Claims"}
	for i := range all {
		c := &all[i]
		s := part.Section{ID: fmt.Sprintf("claim-%d", i+1), Title: c.Spec.Title, Sentences: []string{c.Sentence}, Outcome: string(c.Outcome), Ground: c.ground()}
		if c.Outcome == NotTestable {
			s.Ground = "because " + s.Ground
		}
		if c.Spec.Source != "" {
			s.Sentences[0] += " Claimed by: " + c.Spec.Source + "."
		}
		if len(c.Evidence) > 1 { // the sentence has all of one
			s.Tables = []part.Table{c.table()}
		}
		p.Sections = append(p.Sections, s)
	}
	return p
}

// table lists the comparisons behind a claim: all of them must hold.
func (c *Claim) table() part.Table {
	t := part.Table{
		Caption: "Every condition of the claim, with the interval that decides it. All must hold.",
		Columns: slices.Concat(part.Titles("metric", "ratio of", "claimed"), part.Figures("measured", "blocks"), part.Titles("state")),
	}
	for _, e := range c.Evidence {
		p := c.Spec.Parts[e.Part]
		measured := part.Missing()
		switch {
		case e.Blocks > 0 && e.Form != Ratio:
			measured = part.Datum{Figure: &part.Number{Text: e.text(p, e.Ratio), Interval: e.text(p, e.Low) + " to " + e.text(p, e.High)}}
		case e.Blocks > 0:
			measured = part.Datum{Ratio: part.RatioOver(e.Blocks, e.Of, e.Ratio, e.Low, e.High)}
		}
		t.Rows = append(t.Rows, []part.Datum{
			part.Word(part.Label(p.Metric)), e.compared(), part.Word(e.claimed(p)), measured, part.Count(e.Blocks),
			{Text: string(outcomeOf(e.State, c.Spec.Source != "", e.Untestable)), Detail: e.Reason},
		})
	}
	return t
}

// compared is what an evidence compares, by labels, with the names where these differ.
func (e *Evidence) compared() part.Datum {
	if e.said == "" || e.said == e.What {
		return part.Word(e.What)
	}
	return part.Datum{Text: e.said, Detail: e.What}
}
