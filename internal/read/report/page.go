// Package report turns findings into something to read: a page model, and
// from it text for a terminal, Markdown, and one self-contained HTML file.
// It computes nothing. New decides every word and unit once; the renderers
// only lay out.
package report

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
)

// Page is a report before it has a form. Strings are ready to print, numbers
// inside figures are raw. Build one with New; renderers only read it.
type Page struct {
	Title     string        `json:"title"`
	Question  string        `json:"question,omitempty"`
	Made      string        `json:"made"` // when, with what, on which rig
	Answers   []Answer      `json:"answers"`
	More      []Answer      `json:"more,omitempty"`     // the less decisive answers of a large study
	Requires  []Requirement `json:"requires,omitempty"` // what the study demands, unmet first
	Tally     string        `json:"tally"`
	Judged    []string      `json:"judged,omitempty"` // how: stage and level, size of the families, method
	Doubts    []string      `json:"doubts,omitempty"` // what undermines the answers
	Warnings  []Warning     `json:"warnings,omitempty"`
	Arms      []Key         `json:"arms"`
	Effects   []Figure      `json:"effects"`            // every arm against the baseline, one figure per primary metric
	Charts    []Chart       `json:"charts,omitempty"`   // as the study asked for them
	Fits      []Section     `json:"fits,omitempty"`     // models, each with its sentence
	Claims    []Section     `json:"claims,omitempty"`   // what a publication says of the arms, judged
	Searches  []Section     `json:"searches,omitempty"` // for the least that comes near the best
	Cells     []Cell        `json:"cells"`
	Published Published     `json:"published,omitzero"`
	Evidence  []Section     `json:"evidence"`
	Rerun     Rerun         `json:"rerun"`
}

// Answer is one sentence with the verdict that it states; the verdict is
// empty when the sentence belongs to no single comparison.
type Answer struct {
	Verdict compare.Verdict `json:"verdict,omitempty"`
	Text    string          `json:"text"`
}

// Warning is something to act on.
type Warning struct {
	About  string `json:"about"`
	Grave  bool   `json:"grave,omitempty"` // bears on whether to believe the answers
	Text   string `json:"text"`
	Advice string `json:"advice,omitempty"`
}

// Key gives an arm the same colour and shape in every figure: its place in
// Page.Arms, the baseline always at 0.
type Key struct {
	Name     string `json:"name"`
	Baseline bool   `json:"baseline,omitempty"`
}

// Cell is one combination of the levels that vary beside the compared factor.
type Cell struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Main    Table    `json:"main"`              // arms by the metrics that matter, with ratios
	Compact Table    `json:"compact"`           // the same for a terminal: figures and ratios on one line per arm
	Values  Table    `json:"values"`            // Compact without its ratios, for a narrow terminal
	Ratios  Table    `json:"ratios"`            // the ratios alone, for a narrow terminal
	Besides *Table   `json:"besides,omitempty"` // the comparisons that are declared besides those with the baseline
	Details []Table  `json:"details,omitempty"` // each client by itself, the runtime, the interfaces
	All     Table    `json:"all"`               // every metric by arm
	Figures []Figure `json:"figures"`
	Profile *Profile `json:"profile,omitempty"`
}

// Section is a titled part of the evidence behind the answers.
type Section struct {
	ID     string  `json:"id"`
	Title  string  `json:"title"`
	Note   string  `json:"note,omitempty"`
	Tables []Table `json:"tables"`
}

// Rerun tells how to get this report again.
type Rerun struct {
	Command string `json:"command"`
	Seed    string `json:"seed"`
}

// New lays findings out as a page. Garbage in the findings gives an odd page,
// never a panic.
func New(f finding.Findings) Page {
	l := newLayout(f)
	answers, more := l.answers()
	return Page{
		Title:     l.title(),
		Question:  f.Header.Study.Question,
		Made:      l.made(),
		Answers:   answers,
		More:      more,
		Requires:  l.requires(),
		Tally:     l.tally(),
		Judged:    l.judged(),
		Doubts:    l.doubts(),
		Warnings:  l.warnings(),
		Arms:      l.keys,
		Effects:   l.effects(),
		Charts:    l.charts(),
		Fits:      l.fits(),
		Searches:  l.searches(),
		Claims:    l.claims(),
		Cells:     l.cells(),
		Published: l.published(),
		Evidence:  l.evidence(),
		Rerun: Rerun{
			Command: shellLine(f.Header.Command),
			Seed:    fmt.Sprint(f.Header.Study.Seed),
		},
	}
}

// layout is what the builders of the page's parts share.
type layout struct {
	finding.Findings
	keys     []Key
	place    map[string]int // arm → index in keys
	primary  map[string]bool
	compared map[comparisonKey]compare.Comparison
}

type comparisonKey struct{ cell, arm, metric string }

func newLayout(f finding.Findings) *layout {
	l := &layout{
		Findings: f,
		place:    map[string]int{},
		primary:  map[string]bool{},
		compared: map[comparisonKey]compare.Comparison{},
	}
	l.addKey(f.Header.Study.Compare.Baseline, true)
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			l.addKey(a.Name, a.Baseline)
		}
	}
	for _, m := range f.Header.Study.Compare.Primary {
		l.primary[m] = true
	}
	for _, c := range f.Comparisons {
		if c.Base == f.Header.Study.Compare.Baseline { // others stand in the table of comparisons
			l.compared[comparisonKey{c.Cell, c.Arm, c.Metric}] = c
		}
	}
	return l
}

func (l *layout) addKey(arm string, baseline bool) {
	if _, known := l.place[arm]; known || arm == "" {
		return
	}
	l.place[arm] = len(l.keys)
	l.keys = append(l.keys, Key{arm, baseline})
}

// title is the study's name; of a server that stood by itself, what listened
// where.
func (l *layout) title() string {
	if len(l.Header.Listen) > 0 && l.ServerReport != nil {
		return l.ServerReport.Server + " on " + strings.Join(l.Header.Listen, " ")
	}
	return or(l.Header.Study.Name, "netdyno report")
}

func (l *layout) made() string {
	parts := []string{"netdyno " + or(l.Header.Netdyno, "of unknown version")}
	if !l.Header.CreatedAt.IsZero() {
		parts = append(parts, l.Header.CreatedAt.UTC().Format("2 January 2006, 15:04 UTC"))
	}
	if rig := l.Header.Facts.Rig; rig != "" {
		parts = append(parts, strings.Join(append([]string{"rig " + rig}, l.link()...), ", "))
	}
	return strings.Join(parts, " · ")
}

// link is what the study holds of the link, "link.rate=1Gbit/s".
func (l *layout) link() []string {
	var held []string
	for _, factor := range sortedKeys(l.Header.Study.Hold) {
		if strings.HasPrefix(factor, "link.") {
			held = append(held, factor+"="+l.Header.Study.Hold[factor])
		}
	}
	return held
}

// answers pairs each sentence with its verdict. Findings put the most
// decisive first, so what exceeds maxAnswers can wait.
func (l *layout) answers() (answers, more []Answer) {
	said := map[string]compare.Verdict{}
	for _, c := range l.Comparisons {
		if c.Sentence != "" {
			said[c.Sentence] = c.Verdict
		}
	}
	for _, text := range l.Findings.Answers {
		answers = append(answers, Answer{said[text], strings.ReplaceAll(text, " %", noBreak+"%")})
	}
	if len(answers) > maxAnswers+1 {
		return answers[:maxAnswers], answers[maxAnswers:]
	}
	return answers, nil
}

func (l *layout) tally() string {
	t := l.Tally
	if len(l.Header.Listen) > 0 && l.ServerReport != nil {
		return "driven " + plural(len(l.ServerReport.Segments)+l.ServerReport.Unkept, "time")
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s planned: %d valid", plural(t.Planned, "trial"), t.Valid)
	for _, part := range []struct {
		n    int
		name string
	}{{t.Partial, "of them without rates"}, {t.Failed, "failed"}, {t.Invalid, "invalid"}, {t.Unsupported, "unsupported"}, {t.Missing, "missing"}, {t.Unplanned, "outside the plan"}} {
		if part.n > 0 {
			fmt.Fprintf(&b, ", %d %s", part.n, part.name)
		}
	}
	fmt.Fprintf(&b, " · %s", plural(l.blocks(), "block"))
	if t.Probes > 0 {
		fmt.Fprintf(&b, " · %s for profiles", plural(t.Probes, "probe"))
	}
	if t.WindowShare > 0 {
		fmt.Fprintf(&b, " · %s %% of the time inside windows and warm-up", quantity.FormatFigure(100*t.WindowShare))
	}
	return b.String()
}

// blocks are those that the study plans by itself, at which it stopped, or to
// which it was told to go on.
func (l *layout) blocks() int {
	if l.Stage != nil && (l.Stage.Stopped || l.Stage.Blocks > l.Header.Study.Blocks) {
		return l.Stage.Blocks
	}
	return l.Header.Study.Blocks
}

const maxAnswers = 8

const noBreak = "\u00a0"

// doubts names what stands between the reader and the answers: it comes
// before the figures, not in a footnote.
func (l *layout) doubts() []string {
	var doubts []string
	t := l.Tally
	if lost := t.Failed + t.Invalid + t.Missing; lost > 0 {
		doubts = append(doubts, fmt.Sprintf("%d of %s gave no valid figure: %d failed, %d invalid, %d missing.",
			lost, plural(t.Planned, "planned trial"), t.Failed, t.Invalid, t.Missing))
	}
	if t.Unplanned > 0 {
		doubts = append(doubts, plural(t.Unplanned, "record")+" in the file came from no trial of the plan; they are left out.")
	}
	if t.Partial > 0 {
		doubts = append(doubts, fmt.Sprintf("%d of %s stood still or began with a backlog: their response times are kept, their rates and costs are not.",
			t.Partial, plural(t.Planned, "planned trial")))
	}
	for _, c := range l.Comparisons {
		if c.Primary && c.Verdict == compare.Invalid && c.Sentence == "" {
			doubts = append(doubts, fmt.Sprintf("No verdict on %s of %s%s: %s.",
				labelOf(c.Metric), c.Arm, at(c.Cell), strings.TrimSuffix(or(c.Reason, "invalid"), ".")))
		}
	}
	const most = 6 // more would bury the answers; the table of comparisons has them all
	if more := len(doubts) - most; more > 0 {
		doubts = append(doubts[:most], fmt.Sprintf("And %d more, listed under Comparisons.", more))
	}
	return doubts
}

// grave are the warnings about how the trials went; the others say what the
// study is about and how far it reaches.
var grave = []string{
	"limit", "noise", trial.Stalled, trial.Backlog, trial.Unsteady, trial.Overloaded, trial.LateCounters, trial.GeneratorLate, trial.StolenCPU,
}

// warnings puts first what bears on the answers.
func (l *layout) warnings() []Warning {
	var warnings []Warning
	for _, w := range l.Warnings {
		warnings = append(warnings, Warning{
			About: w.About, Grave: slices.Contains(grave, w.About),
			Text: strings.TrimPrefix(w.Text, w.About+": "), Advice: w.Advice,
		})
	}
	slices.SortStableFunc(warnings, func(a, b Warning) int {
		switch {
		case a.Grave == b.Grave:
			return 0
		case a.Grave:
			return -1
		}
		return 1
	})
	return warnings
}
