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
	"netdyno/internal/quantity"
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
	sentence    string // the answer
	note        string // what the judgement rests on
	differences part.Table
	gated       part.Table // the primary comparisons
	places      []RunPlace
	reasons     []string   // why some primary comparisons, or the whole, are undecided, each once
	explored    part.Table // every other metric, not judged
	screen      part.Table // what a terminal shows: the primary comparisons, and the main ones of the others
	unlike      []string   // how the runs differ, a line each, the decisive first
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
		sentence: r.Sentence, note: restsOn(r), places: places[:],
	}
	p.differences = part.Table{Caption: "How the runs differ, apart from their figures.", Columns: part.Titles("about", "first, then second", "what it may do")}
	for _, d := range r.Differences {
		p.differences.Rows = append(p.differences.Rows, []part.Datum{{Text: d.About, Strong: d.Decisive}, part.Word(d.Text), part.Word(d.May)})
	}
	slices.SortStableFunc(r.Differences, func(x, y history.Difference) int { return cmp.Compare(rankOf(x), rankOf(y)) })
	for _, d := range r.Differences {
		p.unlike = append(p.unlike, d.About+": "+d.Text+"; "+d.May)
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
	p.explored, p.screen = exploredRuns(r, after.Plan().Names)
	p.arms, p.effects = runEffects(r, after)
	return p
}

// rankOf orders differences for a terminal, which shows the first.
func rankOf(d history.Difference) int {
	switch {
	case d.Decisive:
		return 0
	case d.About == "facts" || d.About == "program" || d.About == "netdyno":
		return 2
	}
	return 1
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

// exploredRuns lays out the explored metrics; and what a terminal shows: the primary ones
// with their verdicts, then those that the main tables of a run show.
func exploredRuns(r history.RunsCompared, names cells.Names) (all, screen part.Table) {
	all = part.Table{Caption: "Not judged: the other metrics, each with its 95 % interval."}
	all.Columns = slices.Concat(part.Titles("arm", "cell", "metric"), part.Figures("first", "second", "second ÷ first"))
	screen.Columns = slices.Concat(all.Columns, part.Titles(""))
	row := func(c compare.Comparison) []part.Datum {
		was, is := bothRuns(c)
		return []part.Datum{part.Word(c.Arm), part.Word(names.CellOr(c.Cell, "all")), part.Word(part.Label(c.Metric)), was, is, part.Quotient(c)}
	}
	for _, g := range r.Gated {
		screen.Rows = append(screen.Rows, append(row(g.Comparison), part.Word(strings.Fields(gateWords[g.Result].mark)[0])))
	}
	for _, c := range r.Comparisons {
		if c.Primary || withheld(c) {
			continue
		}
		all.Rows = append(all.Rows, row(c))
		if inMainTable(c.Metric) {
			screen.Rows = append(screen.Rows, append(row(c), part.Word("")))
		}
	}
	return part.Bounded(all), unlikeRows(part.Bounded(screen))
}

// unlikeRows is a table without the first columns that have one value in all rows.
func unlikeRows(t part.Table) part.Table {
	for len(t.Rows) > 0 && len(t.Columns) > 1 && t.Columns[0].Title != "metric" &&
		!slices.ContainsFunc(t.Rows, func(row []part.Datum) bool { return row[0].Text != t.Rows[0][0].Text }) {
		t.Columns = t.Columns[1:]
		for i := range t.Rows {
			t.Rows[i] = t.Rows[i][1:]
		}
	}
	return t
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
		return fmt.Sprintf("%s. How much equal runs differ on this machine is not known (netdyno calibrate measures it): it is taken for %s, as a standard deviation, or for what the rounds of these runs differ by, if that is more.",
			part.Capital(floor), quantity.ChosenShare(history.DefaultSpread))
	}
	c := r.Calibration
	return fmt.Sprintf("%s. How much equal runs differ on this machine is known from its calibrations (%d, the latest of %s).", part.Capital(floor), c.Times, c.CreatedAt.Format("2 Jan 2006 15:04"))
}

// Markdown writes the comparison for a pull request.
func (p Runs) Markdown(w io.Writer) error {
	m := markdown{}
	m.heading(3, p.title)
	m.paragraph(p.sentence)
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

// mostUnlike bounds the differences that a terminal shows.
const mostUnlike = 4

// Text writes the comparison for a terminal: one table, one sentence, and what may lie
// behind it.
func (p Runs) Text(w io.Writer, opt TextOptions) error {
	t := newTerminal(opt)
	t.heading(printable.Text(p.title))
	if t.line(""); len(p.screen.Rows) > 0 {
		t.table(p.screen)
		t.line("")
	}
	t.paragraph("", p.sentence)
	for i, text := range p.unlike {
		if i == mostUnlike {
			t.paragraph("", fmt.Sprintf("and %d more differences, in compare.md", len(p.unlike)-i))
			break
		}
		t.paragraph("differs in ", text)
	}
	for _, reason := range p.reasons {
		if !strings.Contains(part.Capital(p.sentence), reason[1:]) { // less its capital
			t.paragraph("? ", reason)
		}
	}
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
		Sentence              string
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
		Title: p.title, Made: p.made, Note: p.note, Sentence: p.sentence, Reasons: p.reasons,
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
			Caption: "The second run as a ratio to the first: the line is the interval that decides, which includes the machine's run-to-run noise. " +
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
