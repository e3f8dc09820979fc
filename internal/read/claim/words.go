package claim

import (
	"cmp"
	"fmt"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// sentence says what became of a claim, to stand under its title, on what
// that rests and under which conditions.
func (c *Claim) sentence() string {
	outcome := cmp.Or(string(c.Outcome), string(c.State))
	outcome = strings.ToUpper(outcome[:1]) + outcome[1:]
	if c.Outcome == NotTestable {
		return outcome + ": " + c.ground()
	}
	ground := c.ground()
	if n := len(c.Evidence) - 1; n > 0 {
		ground += fmt.Sprintf(" The table has %d more.", n)
	}
	return outcome + ". " + ground
}

// ground says on what the outcome of a claim rests: the comparison that
// decides and the conditions of the test, or why there is none.
func (c *Claim) ground() string {
	if c.Outcome == NotTestable {
		if c.Elsewhere == "" {
			return c.untested() + "."
		}
		return c.untested() + ". " + part.Sentence(c.Elsewhere)
	}
	weakest := c.Weakest()
	if weakest == nil {
		return "Its arms have no figures in a common cell."
	}
	text := c.evidenceWords(weakest)
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
func (c *Claim) evidenceWords(e *Evidence) string {
	p := c.Spec.Parts[e.Part]
	text := cmp.Or(e.said, e.What)
	if p.Metric != "" {
		text = metric.Shown(p.Metric).Doc + ": " + text
	}
	switch {
	case e.Blocks > 0 && !e.Known():
		text += " unknown (" + cells.WhyUnknown(e.Blocks, e.Of) + ")"
	case e.Blocks > 0:
		low, high := quantity.FormatFigure(e.Low), quantity.FormatFigure(e.High)
		if e.Form != Ratio {
			low, high = e.text(p, e.Low), e.text(p, e.High)
		}
		text += fmt.Sprintf(" %s (%s interval %s–%s, %d %s)", e.text(p, e.Ratio), compare.Confidence(e.Interval), low, high, e.Blocks, e.replicates())
	}
	return text + ", claimed " + e.claimed(p)
}

// untested is why a claim cannot be tested here.
func (c *Claim) untested() string {
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

// sentence counts how the claims came out.
func (all Claims) sentence() string {
	count := map[Outcome]int{}
	for _, c := range all {
		count[c.Outcome]++
	}
	var said []string
	for _, o := range []struct {
		outcome   Outcome
		one, many string
	}{
		{StillHolds, "holds", "hold"},
		{NoLongerHolds, "no longer holds", "no longer hold"},
		{NeverHeld, "does not hold", "do not hold"},
		{StillOpen, "is undecided", "are undecided"},
		{NotTestable, "cannot be tested here", "cannot be tested here"},
	} {
		switch n := count[o.outcome]; {
		case n == len(all) && n > 1 && o.outcome == NotTestable:
			return fmt.Sprintf("None of the %d declared claims can be tested here.", n)
		case n == len(all) && n > 1:
			return fmt.Sprintf("All %d declared claims %s.", n, o.many)
		case n == 1:
			said = append(said, "1 "+o.one)
		case n > 1:
			said = append(said, fmt.Sprintf("%d %s", n, o.many))
		}
	}
	return fmt.Sprintf("Of %s, %s.", quantity.Plural(len(all), "declared claim"), part.And(said))
}

// FigureWords is the number that decides a claim, with its interval; "" where nothing was
// measured for it.
func (c *Claim) FigureWords() string {
	e := c.Weakest()
	if e == nil || e.Blocks == 0 {
		return ""
	}
	return c.evidenceWords(e)
}

// elsewhere says where a claim that cannot be tested here can be, and by which command; ""
// where the study has no arm for it.
func (c *Claim) elsewhere(study string) string {
	switch {
	case c.Spec.Unmeasured != "":
		return ""
	case len(c.Unmet) > 0:
		under := map[string]string{}
		for _, u := range c.Unmet {
			under[u.Condition] = u.Published
		}
		return record.WhereTested(study, under)
	case strings.Contains(c.Reason, compare.OthersTurnRatios):
		return "on a quiet machine: netdyno run " + study
	}
	if len(c.Spec.Under) == 0 {
		return fmt.Sprintf("where its arms can run: netdyno run %s, here or with --rig ssh:HOST,HOST", study)
	}
	return "where its arms can run, " + record.WhereTested(study, c.Spec.Under)
}
