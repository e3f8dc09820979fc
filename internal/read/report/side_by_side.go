package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/history"
	"netdyno/internal/read/part"
)

// apartNote is what ratios of runs mean that were made one after the other.
const apartNote = "The runs were made one after the other, not in the same blocks. An interval holds the spread over the blocks of both runs; what else changed on the machines between the runs is in the ratio, and in no interval. Nothing is judged."

// besideMetric finds one comparison of a run that stands beside the first.
type besideMetric struct {
	cells.Key
	metric string
}

// NewSideBySide lays out runs of one study on several rigs, each beside the first.
func NewSideBySide(found []finding.Findings, places []RunPlace) Runs {
	runs := each.Of(found, func(f finding.Findings) compare.Run { return f.Run })
	beside, names := history.SideBySide(runs), runNames(runs, places)
	first := runs[0].Header.Study
	p := Runs{
		title:  fmt.Sprintf("netdyno compare, %s: %d runs side by side", cmp.Or(cells.Title(first), "a study"), len(runs)),
		made:   madeAt(found, names, places),
		note:   apartNote,
		beside: true, places: places,
	}
	p.differences = part.Table{Caption: "What differs from " + names[0] + ", apart from the rig.", Columns: part.Titles("run", "about", "first, then here")}
	for i, b := range beside {
		for _, d := range b.Differences {
			p.differences.Rows = append(p.differences.Rows, []part.Datum{part.Word(names[i+1]), {Text: d.About, Strong: d.Decisive}, part.Word(d.Text)})
		}
	}
	by := make([]map[besideMetric]compare.Comparison, len(beside))
	for i, b := range beside {
		by[i] = map[besideMetric]compare.Comparison{}
		for _, c := range b.Comparisons {
			by[i][besideMetric{cells.KeyOf(c.Cell, c.Arm), c.Metric}] = c
			if reason := part.Capital(c.Reason); c.Primary && withheld(c) && !slices.Contains(p.reasons, names[i+1]+": "+reason) {
				p.reasons = append(p.reasons, names[i+1]+": "+reason)
			}
		}
	}
	p.gated, p.explored = besideTables(runs, names, by)
	p.shown = p.explored
	p.arms, p.effects = besideEffects(found[0], names, by)
	return p
}

// runNames are the rigs of the runs, with their directories where a rig has several.
func runNames(runs []compare.Run, places []RunPlace) []string {
	rigs := each.Of(runs, func(r compare.Run) string { return r.Header.Facts.Rig })
	names := slices.Clone(rigs)
	for i, rig := range rigs {
		if slices.Index(rigs, rig) != i || slices.Contains(rigs[i+1:], rig) {
			names[i] += ", " + places[i].Name
		}
	}
	return names
}

func madeAt(found []finding.Findings, names []string, places []RunPlace) string {
	var all []string
	for i, f := range found {
		text := fmt.Sprintf("%s %s, with %s, %d trials valid", names[i], f.Header.CreatedAt.Format("2 Jan 2006 15:04"), f.Header.Netdyno, f.Tally.Valid)
		if !strings.HasSuffix(names[i], places[i].Name) {
			text += ", " + places[i].Name
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// besideTables sets the figures of every run side by side, those behind the first with
// their ratio to it: the primary metrics, and the others of a run's main tables.
func besideTables(runs []compare.Run, names []string, by []map[besideMetric]compare.Comparison) (primary, other part.Table) {
	columns := append(part.Titles("metric, arm"), part.Figures(names...)...)
	for i := range columns[2:] {
		columns[2+i].Ratios = part.NotJudged
	}
	primary = part.Table{Caption: "Each run's figure, and its ratio to that of " + names[0] + " with the 95 % interval.", Columns: columns}
	other = part.Table{Caption: "The other metrics, likewise.", Columns: columns}
	for _, m := range metric.All() {
		to := &other
		if slices.Contains(runs[0].Header.Study.Compare.Primary, m.Name) {
			to = &primary
		} else if !inMainTable(m.Name) {
			continue
		}
		for _, key := range history.Cells(runs) {
			if row, some := besideRow(besideMetric{key, m.Name}, by); some {
				to.Rows = append(to.Rows, append([]part.Datum{part.Word(part.Label(m.Name) + ", " + cells.ArmLabel(runs[0].Header.Study, key.Arm) + cells.InCell(key.Cell))}, row...))
			}
		}
	}
	return primary, part.Bounded(other)
}

// besideRow are the figures of one metric of an arm; false where no run has one beside the
// first.
func besideRow(at besideMetric, by []map[besideMetric]compare.Comparison) (row []part.Datum, some bool) {
	largest := 0.0
	for _, all := range by {
		if c, has := all[at]; has && c.Ratio > 0 {
			largest, some = max(largest, c.Value, c.BaseValue), true
		}
	}
	s := part.ScaleFor(at.metric, largest)
	row = []part.Datum{part.Missing()}
	for _, all := range by {
		c, has := all[at]
		if !has || c.Ratio <= 0 {
			row = append(row, part.Missing())
			continue
		}
		row[0] = part.InUnit(c.BaseValue, s)
		d := part.InUnit(c.Value, s)
		if !withheld(c) {
			d.Ratio = part.RatioOf(c)
		}
		row = append(row, d)
	}
	return row, some
}

// besideEffects draws the ratios of each primary metric: a group for every arm, a line for
// every run behind the first.
func besideEffects(first finding.Findings, names []string, by []map[besideMetric]compare.Comparison) ([]Key, []Figure) {
	keys := each.Of(names, func(name string) Key { return Key{Name: name, Label: name, Baseline: name == names[0]} })
	var figures []Figure
	for _, name := range first.Header.Study.Compare.Primary {
		f := &Forest{Axis: part.Label(name) + ", ÷ " + names[0] + " (ratio, log scale)", Better: metric.Shown(name).Better}
		for _, key := range history.Cells([]compare.Run{first.Run}) {
			group := ForestCell{Name: cells.ArmLabel(first.Header.Study, key.Arm) + cells.InCell(key.Cell)}
			for i, all := range by {
				c, has := all[besideMetric{key, name}]
				if !has || withheld(c) || !c.Known() || !part.Drawable(c.Ratio, c.Low, c.High) {
					continue
				}
				group.Rows = append(group.Rows, ForestRow{
					Arm: i + 1, Name: names[i+1], Verdict: c.Verdict, Mark: mark(c.Verdict), Label: part.TimesIn(c.Ratio, c.Low, c.High),
					Ratio: part.Brief(c.Ratio), Low: part.Brief(c.Low), High: part.Brief(c.High), Ratios: []float64{}, Blocks: []int{},
				})
			}
			if len(group.Rows) > 0 {
				f.Groups = append(f.Groups, group)
			}
		}
		if len(f.Groups) > 0 {
			figures = append(figures, Figure{Forest: f, Figure: part.Figure{Heading: part.Heading{
				ID: fmt.Sprintf("effect-%d", len(figures)+1), Wide: true,
				Title:   part.Label(name) + " of each run" + betterWords(f.Better),
				Caption: "As a ratio to " + names[0] + ", with the 95 % interval over the blocks of both runs.",
			}}})
		}
	}
	return keys, figures
}
