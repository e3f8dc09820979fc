package report

import (
	_ "embed" // the page's form
	"fmt"
	"html/template"
	"io"
	"slices"
	"sync"

	"netdyno/internal/metric"
	"netdyno/internal/printable"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/read/part"
)

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
		Without               string
		Judged                []runsRow
		Caption               string // of the judged
		Places                [2]RunPlace
		Differences, Explored part.Table
		Effects               []Figure
		Policy                string
		Style                 template.CSS
		Script                template.JS
		Drawn                 template.HTML
	}{
		Title: p.title, Made: p.made, Note: p.note, Reasons: p.reasons,
		Judged: p.judged, Without: p.without, Caption: p.gated.Caption, Places: p.places,
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
