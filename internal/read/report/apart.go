package report

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"netdyno/internal/printable"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
)

// Apart lays out the comparison of two runs that were made one after the other.
type Apart struct {
	title, made string
	note        string // what the judgement rests on
	differences Table
	gated       Table
	reasons     []string // why some primary comparisons, or the whole, tell nothing, each once
	explored    Table    // every other metric, not judged
	shown       Table    // those of it that a terminal shows
}

// NewApart lays out what was found of two runs, named as the user named them.
func NewApart(a history.RunsCompared, before, after finding.Findings, names [2]string) Apart {
	p := Apart{
		title: "netdyno compare, " + or(after.Header.Study.Name, "a study") + ": " + passages[a.Result].words,
		made: fmt.Sprintf("%s, %s, with %s, then %s, %s, with %s; %d and %d trials valid",
			names[0], before.Header.CreatedAt.Format("2 Jan 2006 15:04"), before.Header.Netdyno,
			names[1], after.Header.CreatedAt.Format("2 Jan 2006 15:04"), after.Header.Netdyno, before.Tally.Valid, after.Tally.Valid),
		note: restsOn(a),
	}
	p.differences = Table{Caption: "Before any figure: in what the runs differ.", Columns: head("about", "first, then second")}
	for _, d := range a.Differences {
		p.differences.Rows = append(p.differences.Rows, []Datum{{Text: d.About, Strong: d.Decisive}, {Text: d.Text}})
	}
	if len(a.Differences) == 0 {
		p.differences.Caption = ""
	}
	p.gated = Table{Columns: head("arm", "set against", "cell", "metric", "#first", "#second", "#second ÷ first", "95 % interval", "p", "gate")}
	for _, g := range a.Gated {
		was, is := bothRuns(g.Comparison)
		p.gated.Rows = append(p.gated.Rows, words(g.Arm, or(g.Base, "nothing"), or(g.Cell, "all"), labelOf(g.Metric), was, is,
			ratioOrNone(g.Comparison), intervalOrNone(g.Comparison), probability(g.Adjusted), passages[g.Result].mark))
		if reason := upperFirst(because(g.Reason, g.Decides, g.Result)); g.Result == compare.Unproven && !slices.Contains(p.reasons, reason) {
			p.reasons = append(p.reasons, reason)
		}
	}
	for _, doubt := range a.Caveats {
		p.reasons = append(p.reasons, upperFirst(doubt))
	}
	if len(a.Gated) > 0 {
		p.gated.Caption = fmt.Sprintf("The primary comparisons, a family of %d, p adjusted by %s. Below 1, the second run's figure is the smaller.", a.Gated[0].Family, a.Gated[0].Method)
	}
	p.explored, p.shown = exploredApart(a)
	return p
}

// exploredApart lays out the explored metrics, and those of them that the main
// tables of a run show.
func exploredApart(a history.RunsCompared) (all, shown Table) {
	all = Table{Caption: upperFirst(notJudged) + ": the other metrics, each with its interval.", Columns: head("arm", "cell", "metric", "#first", "#second", "#second ÷ first", "95 % interval")}
	shown = all
	for _, c := range a.Comparisons {
		if c.Primary || withheld(c) {
			continue
		}
		was, is := bothRuns(c)
		row := words(c.Arm, or(c.Cell, "all"), labelOf(c.Metric), was, is, ratioOrNone(c), intervalOrNone(c))
		all.Rows = append(all.Rows, row)
		if slices.Contains(wide, strings.TrimPrefix(strings.TrimPrefix(c.Metric, "response_"), "service_")) {
			shown.Rows = append(shown.Rows, row)
		}
	}
	return bounded(all), shown
}

// bothRuns are an arm's figures in the first and the second run: multiples of the
// floor's, or in the metric's own unit where there is no floor to divide by.
func bothRuns(c compare.Comparison) (was, is string) {
	if c.Base == "" || c.Ratio == 0 {
		is, was = quotientOf(c)
		return was, is
	}
	return ratio(c.BaseValue) + " " + c.Base, ratio(c.Value) + " " + c.Base
}

// restsOn says what a judgement of runs made apart rests on.
func restsOn(a history.RunsCompared) string {
	floor := "no arm is the floor of both"
	if a.Floor != "" {
		floor = fmt.Sprintf("each arm is set against %s, the floor of both, in the blocks of its own run; the floor against nothing", a.Floor)
	}
	if a.Calibration == nil {
		return upperFirst(floor) + ". Without a calibration of the machine nothing is judged."
	}
	c := a.Calibration
	return fmt.Sprintf("%s. By how much like runs differ there is known from calibrations (%d, the latest of %s).", upperFirst(floor), c.Times, c.CreatedAt.Format("2 Jan 2006 15:04"))
}

// Markdown writes the comparison for a pull request.
func (p Apart) Markdown(w io.Writer) error {
	m := markdown{}
	m.heading(3, p.title)
	m.paragraph(p.made)
	m.table(p.differences)
	m.paragraph(p.note)
	m.table(p.gated)
	for _, reason := range p.reasons {
		m.item("cannot tell: " + inline(reason))
	}
	m.table(p.explored)
	_, err := io.WriteString(w, printable.Lines(strings.TrimSpace(m.out.String()))+"\n")
	return err
}

// Text writes the comparison for a terminal.
func (p Apart) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.line("")
	t.line(t.bold(printable.Text(p.title)))
	t.paragraph("", p.made)
	t.section(p.differences)
	t.line("")
	t.paragraph("", p.note)
	t.section(p.gated)
	for _, reason := range p.reasons {
		t.paragraph("? ", reason)
	}
	t.section(p.shown)
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// section prints a table with its caption, nothing for an empty one.
func (t *terminal) section(tab Table) {
	if len(tab.Rows) == 0 {
		return
	}
	t.line("")
	t.paragraph("", tab.Caption)
	t.table(tab)
}
