package report

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
)

// Requirement is one sentence on a declared bound, with the state that it
// states.
type Requirement struct {
	State compare.State `json:"state"`
	Text  string        `json:"text"`
}

// stateMarks are the states as marks for a table and a terminal.
var stateMarks = map[compare.State]string{compare.Met: "✓", compare.Broken: "✗", compare.Undecided: "?"}

// stateVerdict gives a state the colour of a verdict.
var stateVerdict = map[compare.State]compare.Verdict{
	compare.Met: compare.Better, compare.Broken: compare.Worse, compare.Undecided: compare.CannotTell,
}

// judged says how the verdicts were reached: at which stage and level, in how
// large a family, adjusted by which method. Nothing when nothing was compared.
func (l *layout) judged() []string {
	var said []string
	if l.Stage != nil && l.Stage.Sentence != "" {
		said = append(said, strings.ToUpper(l.Stage.Sentence[:1])+l.Stage.Sentence[1:]+".")
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
		said = append(said, plural(explored, "comparison")+" on other metrics: not judged, each with its interval.")
	}
	if len(l.Requirements) > 0 {
		said = append(said, family(l.Requirements[0].Family, "requirement", compare.StepDown))
	}
	return said
}

// family is the sentence on a family of tests and how it is adjusted.
func family(size int, what, method string) string {
	return fmt.Sprintf("%s in the family, adjusted by %s.", plural(size, what), or(method, "no method"))
}

// requires lays the requirements out as answers, those that are not met first:
// they are what somebody must act on.
func (l *layout) requires() []Requirement {
	var all []Requirement
	for _, state := range []compare.State{compare.Broken, compare.Undecided, compare.Met} {
		for _, r := range l.Requirements {
			if r.State == state {
				all = append(all, Requirement{state, requirement(r)})
			}
		}
	}
	return all
}

// requirement is one requirement in a sentence.
func requirement(r compare.Requirement) string {
	said := fmt.Sprintf("%s%s: %s", r.Text, at(r.Cell), r.State)
	value, interval := measured(r)
	switch {
	case value == none:
	case interval == none:
		said += fmt.Sprintf(", %s (%s)", value, plural(r.Blocks, "block"))
	default:
		said += fmt.Sprintf(", %s (%s interval %s, %s)", value, confidence(r.Level), interval, plural(r.Blocks, "block"))
	}
	for _, why := range []string{r.Reason, r.Decides} {
		if why != "" {
			said += "; " + why
		}
	}
	return said + "."
}

// none stands where there is no figure.
const none = "–"

// measured prints a requirement's figure and interval: a ratio, or the metric
// in a unit that suits it. One block gives no ratio and no interval.
func measured(r compare.Requirement) (value, interval string) {
	switch {
	case r.Blocks == 0, r.Base != "" && r.Blocks == 1:
		return none, none
	case r.Base != "":
		return ratio(r.Value), ratioInterval(r.Low, r.High)
	}
	s := scaleFor(r.Metric, r.Value)
	value = s.Format(r.Value) + noBreak + s.Unit
	if r.Blocks == 1 {
		return value, none
	}
	return value, s.Interval(r.Low, r.High)
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
