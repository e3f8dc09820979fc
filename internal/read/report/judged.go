package report

import (
	"cmp"
	"fmt"
	"strconv"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// judged says how the verdicts were reached: at which stage and level, in how
// large a family, adjusted by which method. Nothing when nothing was compared.
func (l *layout) judged() []string {
	var said []string
	if l.Stage != nil && l.Stage.Sentence != "" {
		said = append(said, sentence(l.Stage.Sentence))
	}
	primary, explored := 0, 0
	for _, c := range l.Comparisons {
		switch {
		case !c.Primary:
			explored++
		case primary == 0:
			said = append(said, family(c.Family, "primary comparison", c.Method))
			primary++
		}
	}
	if explored > 0 {
		said = append(said, "Not judged: "+quantity.Plural(explored, "comparison")+" on other metrics, each with its interval.")
	}
	if len(l.Requirements) > 0 {
		said = append(said, family(l.Requirements[0].Family, "requirement", compare.StepDown))
	}
	return said
}

// family is the sentence on a family of tests and how it is adjusted.
func family(size int, what, method string) string {
	return fmt.Sprintf("Judged: %s as one family, p adjusted by %s.", quantity.Plural(size, what), or(method, "no method"))
}

// confidence prints that of an interval at a level, "95 %".
func confidence(level float64) string {
	return strconv.FormatFloat(100*(1-level), 'g', 3, 64) + " %"
}

// level is what the adjusted p of every comparison is held against, and 1 − the
// confidence of its interval.
func (l *layout) level() float64 {
	if len(l.Comparisons) == 0 {
		return cells.Level
	}
	return cmp.Or(l.Comparisons[0].Level, cells.Level)
}
