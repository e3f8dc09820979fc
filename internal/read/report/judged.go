package report

import (
	"cmp"
	"fmt"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// judged says how the verdicts were reached: at which stage and level, in how
// large a family. Nothing when nothing was compared.
func (l *layout) judged() []string {
	var said []string
	if l.Stage != nil && l.Stage.Sentence != "" {
		said = append(said, part.Sentence(l.Stage.Sentence))
	}
	primary, explored := 0, 0
	for _, c := range l.Comparisons {
		switch {
		case !c.Primary:
			explored++
		case primary == 0:
			said = append(said, family(c.Family, "primary comparison"))
			primary++
		}
	}
	if explored > 0 {
		said = append(said, "Not judged: "+quantity.Plural(explored, "comparison")+" on other metrics, each with its interval.")
	}
	if len(l.Requirements) > 0 {
		said = append(said, family(l.Requirements[0].Family, "requirement"))
	}
	return said
}

// family is the sentence on a family of tests and how to read its intervals.
func family(size int, what string) string {
	return fmt.Sprintf("Judged: %s as one family, each by the interval printed with it (Holm).", quantity.Plural(size, what))
}

// level is what the primary comparisons share, and 1 − the confidence of the interval
// of any other.
func (l *layout) level() float64 {
	if len(l.Comparisons) == 0 {
		return cells.Level
	}
	return cmp.Or(l.Comparisons[0].Level, cells.Level)
}
