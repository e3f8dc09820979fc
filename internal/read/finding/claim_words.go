package finding

import (
	"cmp"
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// claimSentence says what became of a claim, to stand under its title, on what
// that rests and under which conditions.
func claimSentence(c compare.Claim) string {
	outcome := cmp.Or(string(c.Outcome), string(c.State))
	outcome = strings.ToUpper(outcome[:1]) + outcome[1:]
	if c.Outcome == compare.NotTestable {
		return outcome + ": " + ClaimGround(c)
	}
	ground := ClaimGround(c)
	if n := len(c.Evidence) - 1; n > 0 {
		ground += fmt.Sprintf(" The table has %d more.", n)
	}
	return outcome + ". " + ground
}

// ClaimGround says on what the outcome of a claim rests: the comparison that
// decides and the conditions of the test, or why there is none.
func ClaimGround(c compare.Claim) string {
	if c.Outcome == compare.NotTestable {
		return untested(c) + "."
	}
	weakest := c.Weakest()
	if weakest == nil {
		return "Its arms have no figures in a common cell."
	}
	text := evidenceWords(c, *weakest)
	if weakest.Reason != "" {
		text += "; " + weakest.Reason
	}
	text += "."
	if len(c.Conditions) > 0 {
		text += " Tested: " + strings.Join(c.Conditions, "; ") + "."
	}
	return text
}

// evidenceWords states one comparison beside what the claim asks of it.
func evidenceWords(c compare.Claim, e compare.Evidence) string {
	p := c.Spec.Parts[e.Part]
	text := p.Metric + ": " + e.What
	switch {
	case e.Blocks > 0 && !e.Known():
		text += " unknown (" + cells.WhyUnknown(e.Blocks, e.Of) + ")"
	case e.Blocks > 0:
		text += fmt.Sprintf(" %s× (%s interval %s–%s, %d blocks)", quantity.FormatFigure(e.Ratio), compare.Confidence(e.Interval),
			quantity.FormatFigure(e.Low), quantity.FormatFigure(e.High), e.Blocks)
	}
	return text + ", claimed " + compare.Claimed(p)
}

// untested is why a claim cannot be tested here.
func untested(c compare.Claim) string {
	switch {
	case c.Reason != "":
		return strings.TrimSuffix(c.Reason, ".")
	case len(c.Unmet) > 0 && c.Spec.Source == "":
		return "it is about " + cells.Conditions(c.Unmet)
	case len(c.Unmet) > 0:
		return "it was published under " + cells.Conditions(c.Unmet)
	}
	return "no cell of this study has its arms at these levels"
}
