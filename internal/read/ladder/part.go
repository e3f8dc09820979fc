package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/profile"
)

// Ladders are what became of a study's ladders.
type Ladders []Ladder

// Part has a section for each ladder on each metric: in each cell which step from arm to
// arm has which part.
func (all Ladders) Part() part.Part {
	p := part.Part{ID: "ladders", Title: "Step by step", Lines: terminalLines}
	for _, l := range all {
		for _, splits := range splitsByMetric(l.Splits) {
			s := l.section(splits)
			s.ID = fmt.Sprintf("ladder-%d", len(p.Sections)+1)
			if s.Figure != nil && len(p.Sections) > 0 {
				s.Figure.Caption = "Read as the figure above."
			}
			if len(p.Sections) == 0 && len(s.Tables) > 0 {
				s.Tables[0].Folded = false // one of them shows what they are
			}
			p.Sections = append(p.Sections, s)
		}
	}
	return p
}

// terminalLines bounds what a terminal shows of ladders.
const terminalLines = 60

// splitsByMetric groups the splits of a ladder, which come metric by metric.
func splitsByMetric(splits []Split) [][]Split {
	var groups [][]Split
	for i, p := range splits {
		if i == 0 || splits[i-1].Metric != p.Metric {
			groups = append(groups, nil)
		}
		last := len(groups) - 1
		groups[last] = append(groups[last], p)
	}
	return groups
}

// section lays out the cells of a ladder on one metric.
func (l Ladder) section(splits []Split) part.Section {
	name := splits[0].Metric
	title := part.Label(name)
	if l.Spec.Title != "" {
		title = l.Spec.Title + ": " + title
	} else if n := len(l.Spec.Arms); n > 0 {
		title = part.Capital(title) + " from " + l.Spec.Arms[0] + " to " + l.Spec.Arms[n-1]
	}
	largest := 0.0
	for _, p := range splits {
		for _, t := range p.Steps {
			largest = max(largest, t.Value, t.BaseValue)
		}
	}
	scale := part.ScaleFor(name, largest)
	s := part.Section{Title: title, Notes: l.notes(splits), Figure: waterfall(splits, scale)}
	for _, p := range splits {
		s.Sentences = append(s.Sentences, p.Sentence)
		if len(p.Steps) > 0 {
			s.Tables = append(s.Tables, p.table(scale))
		}
	}
	return s
}

// notes name what a reader must know of the steps: those that change several
// things, and arms without figures.
func (l Ladder) notes(splits []Split) []string {
	var notes []string
	for i, pair := range l.Spec.Pairs() {
		if i >= len(l.Spec.Steps) || len(l.Spec.Steps[i].Changes) < 2 {
			continue
		}
		notes = append(notes, fmt.Sprintf("The step from %s to %s changes several things at once: %s.", pair.Base, pair.Arm, strings.Join(l.Spec.Steps[i].Changes, ", ")))
	}
	for _, p := range splits {
		if len(p.LeftOut) > 0 && len(p.Steps) > 0 {
			notes = append(notes, part.Sentence("without a valid figure"+cells.InCell(p.Cell)+", and left out: "+strings.Join(p.LeftOut, ", ")))
		}
	}
	return notes
}

// stepColumns is how many columns a ladder's table has before what the profiles say.
const stepColumns = 6

// onTerminal is a ladder's table for a terminal: without the arms that the steps lead to,
// without intervals, which stand in the sentences, and with what the profiles say, which is
// too long for a column, below.
func (p Split) onTerminal(t part.Table) *part.Table {
	short := t.Between(2, stepColumns).Plain().WithoutIntervals()
	if p.Cell != "" {
		short.Caption = "At " + cells.Spoken(p.Cell) + "."
	}
	for _, row := range t.Rows {
		if len(row) > stepColumns && row[stepColumns].Text != "" {
			short.Notes = append(short.Notes, row[0].Text+" by the profiles: "+row[stepColumns].Text)
		}
	}
	return &short
}

// table has a row for the first arm of a cell, for every step, and for the whole.
func (p Split) table(scale metric.Scale) part.Table {
	t := part.Table{
		Caption: "Step by step" + cells.InCell(p.Cell) + ", over " + commonBlocks(p) + " that all arms have. The interval of a ratio decides whether it is told apart, the others are of " + compare.Confidence(p.Level) +
			" each. Steps multiply, so a share is of the ratio's logarithm.",
		Columns: slices.Concat(part.Titles("step"), []part.Column{
			{Title: "leads to", Kind: part.Arms}, {Title: part.Label(p.Metric), Kind: part.Numbers, Unit: scale.Unit, Metric: p.Metric},
			{Title: "ratio", Kind: part.Numbers}, {Title: "adds", Kind: part.Numbers, Unit: scale.Unit}, {Title: "share", Kind: part.Numbers, Unit: "%"},
		}),
		Folded: true,
	}
	profiled := slices.ContainsFunc(append(p.Steps, p.Whole), func(t Step) bool { return t.Cause != nil })
	if profiled {
		t.Columns = append(t.Columns, part.Column{Title: "by the profiles", Unit: scale.Unit})
	}
	first := []part.Datum{part.Word("from " + p.Whole.Base), part.Word(p.Whole.Base), part.Value(scale.Format(p.Whole.BaseValue), ""), part.Missing(), part.Missing(), part.Missing()}
	if profiled {
		first = append(first, part.Datum{})
	}
	t.Rows = append(t.Rows, first)
	for _, s := range append(slices.Clone(p.Steps), p.Whole) {
		row := []part.Datum{stepDatum(s, p), part.Word(s.Arm), part.Value(scale.Format(s.Value), ""), stepRatio(s, p), stepAdded(s, p, scale), stepShare(s, p.Divided)}
		if profiled {
			row = append(row, part.Word(causeText(s.Cause, scale)))
		}
		t.Rows = append(t.Rows, row)
	}
	t.Terminal = p.onTerminal(t)
	return t
}

// commonBlocks counts the blocks of a ladder's figures.
func commonBlocks(p Split) string {
	if p.Blocks < p.Of {
		return "the " + strconv.Itoa(p.Blocks) + " of " + quantity.Plural(p.Of, "block")
	}
	return quantity.Plural(p.Blocks, "block")
}

// stepDatum names a step, with what it changes.
func stepDatum(s Step, p Split) part.Datum {
	if s.Arm == p.Whole.Arm && s.Base == p.Whole.Base && len(p.Steps) > 1 {
		return part.Datum{Text: "the whole", Strong: true}
	}
	return part.Datum{Text: stepTitle(s), Detail: strings.Join(s.Changes, ", ")}
}

// stepTitle is a step as the study calls it, else by its arms.
func stepTitle(s Step) string { return cmp.Or(s.Title, s.Base+" → "+s.Arm) }

func stepRatio(s Step, p Split) part.Datum {
	d := part.Datum{Ratio: part.RatioOver(p.Blocks, p.Of, s.Ratio, s.Low, s.High)}
	if !s.Told {
		d.Detail = "not told apart, p " + part.Probability(s.P)
	}
	return d
}

func stepAdded(s Step, p Split, scale metric.Scale) part.Datum {
	if !cells.Known(p.Blocks, s.Ratio, s.Low, s.High) {
		return part.Missing()
	}
	return part.Value(signed(s.Added.Value, scale), signedInterval(s.Added.Low, s.Added.High, scale))
}

// stepShare is a step's part of the whole; nothing where the whole is not divided.
func stepShare(s Step, divided bool) part.Datum {
	share := metric.Scale{Factor: 0.01}
	switch {
	case !divided:
		return part.Missing()
	case s.Share.Low == s.Share.High:
		return part.Value(share.Format(s.Share.Value), "")
	}
	return part.Value(minus(share.Format(s.Share.Value)), signedInterval(s.Share.Low, s.Share.High, share))
}

// causeText is what the profiles say of a step, in the unit of its figures.
func causeText(c *Cause, scale metric.Scale) string {
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
		return text + part.Bracketed(quantity.Plural(c.Pairs, "pair")+" of probes: three give intervals")
	case !told:
		text = "of " + signed(c.Whole.Difference, scale) + ": nothing told apart from noise"
		if len(c.Activities) > 0 {
			text += part.Bracketed("most: " + c.Activities[0].Name + " " + signed(c.Activities[0].Difference, scale))
		}
	}
	return text
}

// changeText is one activity's difference: "copying +8.10 (6.02–10.2)".
func changeText(c profile.Change, scale metric.Scale) string {
	text := c.Name + " " + signed(c.Difference, scale)
	if c.Low != c.High {
		text += part.Bracketed(signedInterval(c.Low, c.High, scale))
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
