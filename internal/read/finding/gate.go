package finding

import (
	"fmt"

	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Passage is what a gate makes of a comparison or of a whole run.
type Passage int

// The passages, by their exit status.
const (
	NoWorse  Passage = iota // worse by more than the bound is ruled out
	IsWorse                 // the verdict is worse
	Unproven                // neither, or it could not be compared
)

// Gated is one comparison as a gate sees it.
type Gated struct {
	Comparison
	Passage Passage
	Reason  string
}

// Gate asks of every primary comparison whether its arm is no worse than the
// base: proved by its verdict, or by an interval whose bad side stays within
// the bound (non-inferiority: ICH E9, section 3.3.2). The whole is as bad as
// its worst part, and a regression is worse than a doubt. Nothing compared, or
// a trial that failed, proves nothing.
func Gate(f Findings) (Passage, []Gated) {
	var all []Gated
	whole, doubt := NoWorse, f.Tally.Failed+f.Tally.Missing > 0
	for _, c := range f.Comparisons {
		if !c.Primary {
			continue
		}
		g := Gated{Comparison: c}
		g.Passage, g.Reason = pass(c)
		all = append(all, g)
		if g.Passage == IsWorse {
			whole = IsWorse
		}
		doubt = doubt || g.Passage == Unproven
	}
	if whole == NoWorse && (doubt || len(all) == 0) {
		whole = Unproven
	}
	return whole, all
}

func pass(c Comparison) (Passage, string) {
	switch c.Verdict {
	case Better, Equivalent:
		return NoWorse, string(c.Verdict)
	case Worse:
		return IsWorse, string(c.Verdict)
	case Invalid:
		return Unproven, c.Reason
	}
	metric, err := record.MetricNamed(c.Metric)
	switch {
	case err != nil, stat.MinP(c.Blocks) > Level:
		return Unproven, c.Reason
	case metric.Better == record.Lower && c.High < 1+c.Bound, metric.Better == record.Higher && c.Low > 1/(1+c.Bound):
		return NoWorse, fmt.Sprintf("the interval rules out more than %s for the worse", percent(c.Bound))
	}
	return Unproven, c.Reason
}
