package report

import (
	"cmp"
	_ "embed" // the page's form
	"fmt"
	"html/template"
	"io"
	"slices"
	"strings"
	"sync"

	"netdyno/internal/metric"
	"netdyno/internal/printable"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/read/part"
)

// Runs is the comparison of two runs that were made one after the other, laid
// out.
type Runs struct {
	title, made string
	note        string // what the judgement rests on
	differences part.Table
	gated       part.Table // the primary comparisons
	places      []RunPlace
	reasons     []string   // why some primary comparisons, or the whole, are undecided, each once
	explored    part.Table // every other metric, not judged
	shown       part.Table // those of it that a terminal shows
	arms        []Key
	effects     []Figure // the second run against the first, one figure for each primary metric
}

// NewRuns lays out what was found of two runs.
func NewRuns(r history.RunsCompared, before, after finding.Findings, places [2]RunPlace) Runs {
	p := Runs{
		title: "netdyno compare, " + cmp.Or(after.Plan().Title(), "a study") + ": " + gateWords[r.Result].words,
		made: fmt.Sprintf("%s, %s, with %s, then %s, %s, with %s; %d and %d trials valid",
			places[0].Name, before.Header.CreatedAt.Format("2 Jan 2006 15:04"), before.Header.Netdyno,
			places[1].Name, after.Header.CreatedAt.Format("2 Jan 2006 15:04"), after.Header.Netdyno, before.Tally.Valid, after.Tally.Valid),
		note: restsOn(r), places: places[:],
	}
	p.differences = part.Table{Caption: "How the runs differ, apart from their figures.", Columns: part.Titles("about", "first, then second")}
	for _, d := range r.Differences {
		p.differences.Rows = append(p.differences.Rows, []part.Datum{{Text: d.About, Strong: d.Decisive}, part.Word(d.Text)})
	}
	p.gated = gatedRuns(r.Gated, after.Plan().Names)
	for _, g := range r.Gated {
		if reason := part.Capital(gateReason(g)); g.Result == compare.Unproven && !slices.Contains(p.reasons, reason) {
			p.reasons = append(p.reasons, reason)
		}
	}
	for _, caveat := range r.Caveats {
		p.reasons = append(p.reasons, part.Capital(caveat))
	}
	p.explored, p.shown = exploredRuns(r, after.Plan().Names)
	p.arms, p.effects = runEffects(r, after)
	return p
}

// gatedRuns lays out the primary comparisons.
func gatedRuns(gated []compare.Gated, names cells.Names) part.Table {
	t := part.Table{}
	if len(gated) > 0 {
		t.Caption = fmt.Sprintf("The primary comparisons, a family of %d, each by the interval printed with it (%s). Below 1 the second run's figure is the smaller one.", gated[0].Family, gated[0].Method)
	}
	t.Columns = slices.Concat(part.Titles("arm", "compared with", "cell", "metric"), part.Figures("first", "second", "second ÷ first", "p"), part.Titles("gate"))
	for _, g := range gated {
		was, is := bothRuns(g.Comparison)
		p := part.Missing()
		if g.Ratio > 0 {
			p = part.Value(part.Probability(g.Adjusted), "")
		}
		t.Rows = append(t.Rows, []part.Datum{
			part.Word(g.Arm), part.Word(cmp.Or(g.Base, "nothing")), part.Word(names.CellOr(g.Cell, "all")), part.Word(part.Label(g.Metric)), was, is,
			part.Quotient(g.Comparison), p, part.Word(gateWords[g.Result].mark),
		})
	}
	return t
}

// exploredRuns lays out the explored metrics, and those of them that the main
// tables of a run show.
func exploredRuns(r history.RunsCompared, names cells.Names) (all, shown part.Table) {
	all = part.Table{Caption: "Not judged: the other metrics, each with its 95 % interval."}
	all.Columns = slices.Concat(part.Titles("arm", "cell", "metric"), part.Figures("first", "second", "second ÷ first"))
	shown = all
	for _, c := range r.Comparisons {
		if c.Primary || withheld(c) {
			continue
		}
		was, is := bothRuns(c)
		row := []part.Datum{part.Word(c.Arm), part.Word(names.CellOr(c.Cell, "all")), part.Word(part.Label(c.Metric)), was, is, part.Quotient(c)}
		all.Rows = append(all.Rows, row)
		if inMainTable(c.Metric) {
			shown.Rows = append(shown.Rows, row)
		}
	}
	return part.Bounded(all), shown
}

// bothRuns are an arm's figures in the first and the second run: multiples of the
// floor's, or in the metric's own unit where there is no floor to divide by.
func bothRuns(c compare.Comparison) (was, is part.Datum) {
	if c.Base == "" || c.Ratio == 0 {
		is, was = quotientOf(c)
		return was, is
	}
	of := func(value float64) part.Datum {
		return part.Datum{Figure: &part.Number{Text: part.Times(value), Unit: c.Base}}
	}
	return of(c.BaseValue), of(c.Value)
}

// restsOn says what a judgement of two runs rests on.
func restsOn(r history.RunsCompared) string {
	floor := "no arm is the floor of both"
	if r.Floor != "" {
		floor = fmt.Sprintf("each arm is compared with %s, the floor of both, in the blocks of its own run; the floor with nothing", r.Floor)
	}
	if r.Calibration == nil {
		return part.Capital(floor) + ". Without a calibration of the machine nothing is judged."
	}
	c := r.Calibration
	return fmt.Sprintf("%s. How much equal runs differ on this machine is known from its calibrations (%d, the latest of %s).", part.Capital(floor), c.Times, c.CreatedAt.Format("2 Jan 2006 15:04"))
}

// Markdown writes the comparison for a pull request.
func (p Runs) Markdown(w io.Writer) error {
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
func (p Runs) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.heading(printable.Text(p.title))
	t.paragraph("", p.made)
	t.captioned(p.differences)
	t.line("")
	t.paragraph("", p.note)
	t.captioned(p.gated)
	for _, reason := range p.reasons {
		t.paragraph("? ", reason)
	}
	t.captioned(p.shown)
	if _, err := io.WriteString(w, t.out.String()); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

//go:embed assets/runs.html
var runsHTML string

// runsTemplate has the parts of the page beside its own.
var runsTemplate = sync.OnceValue(func() *template.Template {
	return template.Must(parsePage().New("runs").Parse(runsHTML))
})

// HTML writes the comparison as one file that refers to nothing outside itself
// and is readable without its script. The error is w's.
func (p Runs) HTML(w io.Writer) error {
	data, err := packJSON(drawn{Arms: p.arms, Figures: p.effects})
	if err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	v := struct {
		Title, Made, Note     string
		Reasons               []string
		Gated                 part.Table
		Places                []RunPlace
		Differences, Explored part.Table
		Effects               []Figure
		Policy                string
		Style                 template.CSS
		Script                template.JS
		Drawn                 template.HTML
	}{
		Title: p.title, Made: p.made, Note: p.note, Reasons: p.reasons,
		Gated: p.gated, Places: p.places,
		Differences: p.differences, Explored: p.explored,
		Effects: p.effects, Policy: contentPolicy(),
		Style: template.CSS(styleSheet), Script: template.JS(script), Drawn: data,
	}
	v.Explored.Folded = true
	if err := runsTemplate().Execute(printable.NewWriter(w), v); err != nil {
		return fmt.Errorf("write comparison: %w", err)
	}
	return nil
}

// runEffects makes one forest for each primary metric over all cells: the
// second run against the first.
func runEffects(r history.RunsCompared, after finding.Findings) ([]Key, []Figure) {
	l := newLayout(after)
	var figures []Figure
	for _, m := range metric.All() {
		f := &Forest{Axis: part.Label(m.Name) + ", second ÷ first (ratio, log scale)", Better: m.Better}
		for _, c := range r.Comparisons {
			if c.Metric != m.Name || !c.Primary || !c.Known() || !part.Drawable(c.Ratio, c.Low, c.High) {
				continue
			}
			i := slices.IndexFunc(f.Groups, func(g ForestCell) bool { return g.Name == c.Cell })
			if i < 0 {
				i = len(f.Groups)
				f.Groups = append(f.Groups, ForestCell{Name: c.Cell})
			}
			f.Groups[i].Bound = max(f.Groups[i].Bound, c.Bound)
			f.Groups[i].Rows = append(f.Groups[i].Rows, ForestRow{
				Arm: l.place[c.Arm], Name: c.Arm, Verdict: c.Verdict, Mark: mark(c.Verdict),
				Label: part.TimesIn(c.Ratio, c.Low, c.High),
				Ratio: part.Brief(c.Ratio), Low: part.Brief(c.Low), High: part.Brief(c.High), Ratios: []float64{}, Blocks: []int{},
			})
		}
		if len(f.Groups) == 0 {
			continue
		}
		figures = append(figures, Figure{Forest: f, Figure: part.Figure{Heading: part.Heading{
			ID: fmt.Sprintf("effect-%d", len(figures)+1), Wide: true,
			Title: "What changed in " + part.Label(m.Name) + betterWords(m.Better),
			Caption: "The second run as a ratio to the first: the line is the interval that decides, which includes the machine's run-to-run noise where that is calibrated. " +
				"Inside the grey band, the margin or the noise within the runs, a difference counts as none. Pale rows are not judged; the list above says why.",
		}}})
	}
	return l.keys, figures
}

// RunPlace is where one of two runs is.
type RunPlace struct {
	Name   string // as the user named it
	Report string // the address of its report, as the page of both reaches it
}
