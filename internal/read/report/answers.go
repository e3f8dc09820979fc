package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// answer is the answer to the study's question.
func (l *layout) answer() []string {
	var sentences []string
	for _, s := range l.Findings.Answer.Text() {
		sentences = append(sentences, strings.ReplaceAll(s, " %", part.NoBreak+"%"))
	}
	return sentences
}

// condition is the line that says where the answer holds, the last of its sentences; ""
// for none.
func (l *layout) condition() string {
	return strings.ReplaceAll(l.Findings.Answer.Condition, " %", part.NoBreak+"%")
}

// care is what to be careful about, in one line: the worst of what weakens the answer, and how
// much more there is; else what the warnings are about.
func (l *layout) care() string {
	all := l.weakens()
	switch more := len(all) - 1; {
	case more < 0 && len(l.Warnings) > 0:
		return "Good to know: " + strings.ReplaceAll(l.Warnings[0].About, "-", " ") + "."
	case more < 0:
		return ""
	case more > 0:
		return fmt.Sprintf("Weakened by: %s (%d more)", strings.TrimSuffix(all[0], "."), more)
	}
	return "Weakened by: " + all[0]
}

// tally says what became of the trials.
func (l *layout) tally() string {
	t := l.Tally
	var b strings.Builder
	fmt.Fprintf(&b, "%s planned: %d valid", quantity.Plural(t.Planned, "trial"), t.Valid)
	for _, part := range []struct {
		n    int
		name string
	}{{t.Partial, "of them without rates"}, {t.Failed, "failed"}, {t.Invalid, "invalid"}, {t.WarmUp, "warm-up"}, {t.Unsupported, "unsupported"}, {t.Missing, "missing"}, {t.Unplanned, "outside the plan"}} {
		if part.n > 0 {
			fmt.Fprintf(&b, ", %d %s", part.n, part.name)
		}
	}
	fmt.Fprintf(&b, " · %s", quantity.Plural(l.blocks(), "block"))
	if t.Probes > 0 {
		fmt.Fprintf(&b, " · %s for profiles", quantity.Plural(t.Probes, "probe"))
	}
	if t.Unloaded > 0 {
		fmt.Fprintf(&b, " · %s without load", quantity.Plural(t.Unloaded, "trial"))
	}
	if t.FlatOut > 0 {
		fmt.Fprintf(&b, " · %s flat out", quantity.Plural(t.FlatOut, "trial"))
	}
	if t.WindowShare > 0 {
		fmt.Fprintf(&b, " · %s %% of the time inside windows and warm-up", quantity.FormatFigure(100*t.WindowShare))
	}
	if l.Sent != nil {
		b.WriteString(" · " + l.Sent.Words())
	}
	return b.String()
}

// blocks is the number of blocks that the study plans by itself, at which it stopped, or
// to which it was told to go on; in a race and in a search for a capacity, the number
// that ran.
func (l *layout) blocks() int {
	if l.plan.Kind.Steered {
		ran := map[int]bool{}
		for _, v := range l.Findings.Trials {
			if v.Record != nil {
				ran[v.Plan.Block] = true
			}
		}
		return len(ran)
	}
	if l.Look != nil && (l.Look.Stopped || l.Look.Blocks > l.plan.Blocks) {
		return l.Look.Blocks
	}
	return l.plan.Blocks
}

// judged says how the verdicts were reached: at which look and level, in how
// large a family. Nothing when nothing was compared.
func (l *layout) judged() []string {
	var said []string
	if l.Look != nil && l.Look.Sentence != "" {
		said = append(said, part.Sentence(l.Look.Sentence))
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

// Warning is something to act on.
type Warning struct {
	About  string `json:"about"`
	Severe bool   `json:"severe,omitempty"` // bears on whether to believe the answers
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// severe are the warnings about how the trials went. The others say what the
// study is about and how far it reaches.
var severe = []string{
	"limit", "noise", trial.Stalled, trial.Backlog, trial.Unsteady, trial.Overloaded, trial.LateCounters, trial.GeneratorLate, trial.BusyMachine, trial.Throttled,
}

// warnings are the findings' own, those first that weaken the answers.
func (l *layout) warnings() []Warning {
	var warnings []Warning
	for _, w := range l.Warnings {
		warnings = append(warnings, Warning{About: w.About, Severe: slices.Contains(severe, w.About), Text: w.Text, Advice: w.Advice})
	}
	slices.SortStableFunc(warnings, func(a, b Warning) int { return order(b.Severe) - order(a.Severe) })
	return warnings
}

// weakened is what weakens the answer, as the first of a page's warnings.
func (l *layout) weakened() (all []Warning) {
	for _, line := range l.Findings.Answer.Weakens {
		all = append(all, Warning{About: "answer", Text: part.Dotted(line), Severe: true})
	}
	return all
}
