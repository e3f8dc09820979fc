package report

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
)

// Answer is the sentence of a comparison with the verdict that it states.
type Answer struct {
	Verdict compare.Verdict `json:"verdict,omitempty"`
	Text    string          `json:"text"`
}

// answers are the sentences of the comparisons, the most decisive first.
func (l *layout) answers() []Answer {
	var answers []Answer
	for _, c := range finding.MostDecisiveFirst(l.Comparisons) {
		if c.Sentence != "" {
			answers = append(answers, Answer{c.Verdict, strings.ReplaceAll(c.Sentence, " %", part.NoBreak+"%")})
		}
	}
	return answers
}

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

// care is what to be careful about, in one line: what weakens the answer first, then what
// the warnings are about.
func (l *layout) care() string {
	const most = 5
	var about []string
	severe := false
	for _, n := range l.notices() {
		word := strings.ReplaceAll(n.word, "-", " ")
		if n.word == "trials" {
			word = "lost trials"
		}
		about = append(about, word)
	}
	for _, w := range l.warnings() {
		severe = severe || w.Severe
	}
	if len(about) == 0 {
		return ""
	}
	if more := len(about) - most; more > 0 {
		about = append(about[:most:most], fmt.Sprintf("%d more", more))
	}
	first := "Good to know: "
	if severe || len(l.caveats()) > 0 {
		first = "Read with care: "
	}
	return first + strings.Join(about, ", ") + "."
}

// tally says what became of the trials.
func (l *layout) tally() string {
	t := l.Tally
	if len(l.Header.Listen) > 0 && l.ServerReport != nil {
		return "driven " + quantity.Plural(len(l.ServerReport.Segments)+l.ServerReport.Unkept, "time")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s planned: %d valid", quantity.Plural(t.Planned, "trial"), t.Valid)
	for _, part := range []struct {
		n    int
		name string
	}{{t.Partial, "of them without rates"}, {t.Failed, "failed"}, {t.Invalid, "invalid"}, {t.Unsupported, "unsupported"}, {t.Missing, "missing"}, {t.Unplanned, "outside the plan"}} {
		if part.n > 0 {
			fmt.Fprintf(&b, ", %d %s", part.n, part.name)
		}
	}
	fmt.Fprintf(&b, " · %s", quantity.Plural(l.blocks(), "block"))
	if t.Probes > 0 {
		fmt.Fprintf(&b, " · %s for profiles", quantity.Plural(t.Probes, "probe"))
	}
	if t.WindowShare > 0 {
		fmt.Fprintf(&b, " · %s %% of the time inside windows and warm-up", quantity.FormatFigure(100*t.WindowShare))
	}
	if l.Sent != nil {
		b.WriteString(" · " + l.Sent.Words())
	}
	return b.String()
}

// blocks are those that the study plans by itself, at which it stopped, or to
// which it was told to go on; those that ran where results decide which do.
func (l *layout) blocks() int {
	if l.Findings.Race != nil || l.Capacity != nil {
		ran := map[int]bool{}
		for _, v := range l.Findings.Trials {
			if v.Record != nil {
				ran[v.Plan.Block] = true
			}
		}
		return len(ran)
	}
	if l.Stage != nil && (l.Stage.Stopped || l.Stage.Blocks > l.Header.Study.Blocks) {
		return l.Stage.Blocks
	}
	return l.Header.Study.Blocks
}
