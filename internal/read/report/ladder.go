package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/profile"
)

// Ladder shows one ladder of the study on one metric, in all its cells.
type Ladder struct {
	Figure Figure       `json:"figure"` // without anything to draw where no cell has steps
	Cells  []LadderCell `json:"cells"`
	Notes  []string     `json:"notes,omitempty"` // what weakens a step
}

// LadderCell is one cell of a ladder in words and figures.
type LadderCell struct {
	Sentence string `json:"sentence"`
	Table    Table  `json:"table,omitzero"` // of a cell with steps
}

// Drawn reports whether the ladder has a figure.
func (p Ladder) Drawn() bool { return p.Figure.Waterfall != nil }

// ladders lays out every ladder, one part for each metric.
func (l *layout) ladders() []Ladder {
	var all []Ladder
	for _, found := range l.Findings.Ladders {
		for _, splits := range splitsByMetric(found.Splits) {
			part := l.ladder(found, splits)
			part.Figure.ID = fmt.Sprintf("ladder-%d", len(all)+1)
			if len(all) > 0 && part.Drawn() {
				part.Figure.Caption = "Read as the figure above."
			}
			if len(all) == 0 {
				part.Cells[0].Table.Folded = false // one of them shows what they are
			}
			all = append(all, part)
		}
	}
	return all
}

// splitsByMetric groups the splits of a ladder, which come metric by metric.
func splitsByMetric(splits []ladder.Split) [][]ladder.Split {
	var groups [][]ladder.Split
	for i, p := range splits {
		if i == 0 || splits[i-1].Metric != p.Metric {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], p)
	}
	return groups
}

// ladder lays out the cells of one ladder on one metric.
func (l *layout) ladder(found ladder.Ladder, splits []ladder.Split) Ladder {
	name := splits[0].Metric
	title := labelOf(name)
	if found.Spec.Title != "" {
		title = found.Spec.Title + ": " + title
	} else if n := len(found.Spec.Arms); n > 0 {
		title = upperFirst(title) + " from " + found.Spec.Arms[0] + " to " + found.Spec.Arms[n-1]
	}
	largest := 0.0
	for _, p := range splits {
		for _, t := range p.Steps {
			largest = max(largest, t.Value, t.BaseValue)
		}
	}
	scale := scaleFor(name, largest)
	part := Ladder{Notes: ladderNotes(found, splits)}
	part.Figure = l.waterfall(splits, scale)
	part.Figure.Title = title
	for _, p := range splits {
		cell := LadderCell{Sentence: p.Sentence}
		if len(p.Steps) > 0 {
			cell.Table = l.rungs(p, scale)
		}
		part.Cells = append(part.Cells, cell)
	}
	return part
}

// ladderNotes name what a reader must know of the steps: those that change several
// things, and arms without figures.
func ladderNotes(found ladder.Ladder, splits []ladder.Split) []string {
	var notes []string
	for i, pair := range found.Spec.Pairs() {
		if i >= len(found.Spec.Steps) || len(found.Spec.Steps[i].Changes) < 2 {
			continue
		}
		notes = append(notes, fmt.Sprintf("The step from %s to %s changes several things at once: %s.", pair.Base, pair.Arm, strings.Join(found.Spec.Steps[i].Changes, ", ")))
	}
	for _, p := range splits {
		if len(p.LeftOut) > 0 && len(p.Steps) > 0 {
			notes = append(notes, sentence("without a valid figure"+cells.InCell(p.Cell)+", and left out: "+strings.Join(p.LeftOut, ", ")))
		}
	}
	return notes
}

// stepColumns is how many columns a ladder's table has before what the profiles say.
const stepColumns = 6

// narrow is a ladder's table for a terminal: without the arms that the steps lead
// to, and without what is too long for a column.
func (t Table) narrow() Table { return t.part(2, stepColumns).plain().withoutIntervals() }

// rungs is the table of one cell: the first arm, every step, and the whole.
func (l *layout) rungs(p ladder.Split, scale metric.Scale) Table {
	t := Table{
		Caption: "Step by step" + cells.InCell(p.Cell) + ", over " + commonBlocks(p) + " that all arms have. The interval of a ratio decides whether it is told apart, the others are of " + confidence(p.Level) +
			" each. Steps multiply, so a share is of the ratio's logarithm.",
		Columns: slices.Concat(columns("step"), []Column{
			{Title: "leads to", Kind: Arms}, {Title: labelOf(p.Metric), Kind: Numbers, Unit: scale.Unit, Metric: p.Metric},
			{Title: "ratio", Kind: Numbers}, {Title: "adds", Kind: Numbers, Unit: scale.Unit}, {Title: "share", Kind: Numbers, Unit: "%"},
		}),
		Folded: true,
	}
	profiled := slices.ContainsFunc(append(p.Steps, p.Whole), func(t ladder.Step) bool { return t.Cause != nil })
	if profiled {
		t.Columns = append(t.Columns, Column{Title: "by the profiles", Unit: scale.Unit})
	}
	first := []Datum{word("from " + p.Whole.Base), l.named(p.Whole.Base), number(scale.Format(p.Whole.BaseValue), ""), missing(), missing(), missing()}
	if profiled {
		first = append(first, Datum{})
	}
	t.Rows = append(t.Rows, first)
	for _, s := range append(slices.Clone(p.Steps), p.Whole) {
		row := []Datum{stepDatum(s, p), l.named(s.Arm), number(scale.Format(s.Value), ""), stepRatio(s, p), stepAdded(s, p, scale), stepShare(s, p.Divided)}
		if profiled {
			row = append(row, word(causeText(s.Cause, scale)))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// commonBlocks counts the blocks of a ladder's figures.
func commonBlocks(p ladder.Split) string {
	if p.Blocks < p.Of {
		return "the " + strconv.Itoa(p.Blocks) + " of " + quantity.Plural(p.Of, "block")
	}
	return quantity.Plural(p.Blocks, "block")
}

// stepDatum names a step, with what it changes.
func stepDatum(s ladder.Step, p ladder.Split) Datum {
	if s.Arm == p.Whole.Arm && s.Base == p.Whole.Base && len(p.Steps) > 1 {
		return Datum{Text: "the whole", Strong: true}
	}
	return Datum{Text: stepTitle(s), Detail: strings.Join(s.Changes, ", ")}
}

// stepTitle is a step as the study calls it, else by its arms.
func stepTitle(s ladder.Step) string { return or(s.Title, s.Base+" → "+s.Arm) }

func stepRatio(s ladder.Step, p ladder.Split) Datum {
	d := Datum{Ratio: ratioOver(p.Blocks, p.Of, s.Ratio, s.Low, s.High)}
	if !s.Told {
		d.Detail = "not told apart, p " + probability(s.P)
	}
	return d
}

func stepAdded(s ladder.Step, p ladder.Split, scale metric.Scale) Datum {
	if !cells.Known(p.Blocks, s.Ratio, s.Low, s.High) {
		return missing()
	}
	return number(signed(s.Added.Value, scale), signedInterval(s.Added.Low, s.Added.High, scale))
}

// stepShare is a step's part of the whole; nothing where the whole is not divided.
func stepShare(s ladder.Step, divided bool) Datum {
	share := metric.Scale{Factor: 0.01}
	switch {
	case !divided:
		return missing()
	case s.Share.Low == s.Share.High:
		return number(share.Format(s.Share.Value), "")
	}
	return number(minus(share.Format(s.Share.Value)), signedInterval(s.Share.Low, s.Share.High, share))
}

// causeText is what the profiles say of a step, in the unit of its figures.
func causeText(c *ladder.Cause, scale metric.Scale) string {
	if c == nil {
		return ""
	}
	var parts []string
	told := false
	for _, a := range c.Activities {
		told = told || a.Told
		parts = append(parts, changeText(a, scale))
	}
	text := "of " + signed(c.Whole.Difference, scale) + ": " + strings.Join(parts, "; ")
	switch {
	case c.Pairs < 3:
		return text + bracketed(quantity.Plural(c.Pairs, "pair")+" of probes: three give intervals")
	case !told:
		text = "of " + signed(c.Whole.Difference, scale) + ": nothing told apart from noise"
		if len(c.Activities) > 0 {
			text += bracketed("most: " + c.Activities[0].Name + " " + signed(c.Activities[0].Difference, scale))
		}
	}
	return text
}

// changeText is one activity's difference: "copying +8.10 (6.02–10.2)".
func changeText(c profile.Change, scale metric.Scale) string {
	text := c.Name + " " + signed(c.Difference, scale)
	if c.Low != c.High {
		text += bracketed(signedInterval(c.Low, c.High, scale))
	}
	return text
}

// signed is an amount with its sign.
func signed(x float64, scale metric.Scale) string {
	if x > 0 {
		return "+" + scale.Format(x)
	}
	return minus(scale.Format(x))
}

// signedInterval prints both ends of an interval that may lie below 0.
func signedInterval(low, high float64, scale metric.Scale) string {
	if low < 0 {
		return minus(scale.Format(low)) + " to " + minus(scale.Format(high))
	}
	return scale.Interval(low, high)
}

// minus prints a negative number with the sign that is as wide as a plus.
func minus(number string) string {
	if digits, negative := strings.CutPrefix(number, "-"); negative {
		return "−" + digits
	}
	return number
}
