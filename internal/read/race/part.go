package race

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
)

// Headline answers which settings to use.
func (r *Race) Headline() part.Headline {
	if r == nil {
		return part.Headline{}
	}
	whole := r.candidateTable()
	whole.Caption = ""
	short := whole
	short.Rows = nil
	for i, c := range r.Candidates {
		if c.Fate == Stayed || c.Arm == r.Winner || c.Arm == r.Baseline {
			short.Rows = append(short.Rows, whole.Rows[i])
		}
	}
	told := slices.Contains([]State{Confirmed, Needed, Unproven, Unbeaten}, r.State)
	return part.Headline{Place: part.Whole, Sentences: r.Sentences, Forms: [][]part.Table{{whole}, {short}}, Open: !told}
}

// Part lays out what a race recommends, what became of every arm, and what each setting
// did by itself.
func (r *Race) Part() part.Part {
	p := part.Part{ID: "races", Title: "Which settings"}
	if r == nil {
		return p
	}
	p.Sections = []part.Section{{ID: "race", Title: "The race", Sentences: []string{r.runWords()}, Tables: []part.Table{r.candidateTable()}}}
	if len(r.Settings) > 0 || len(r.Costs) > 0 {
		p.Sections = append(p.Sections, part.Section{ID: "race-settings", Title: "Winner and baseline in fresh blocks", Tables: r.recommended()})
	}
	if len(r.Options) > 0 {
		p.Sections = append(p.Sections, part.Section{
			ID: "race-options", Title: "Each setting by itself",
			Sentences: []string{"Arms that differ from " + r.Baseline + " in one setting alone, over the blocks of the race. The 95 % intervals rest on the noise of all arms."},
			Tables:    []part.Table{r.optionTable()},
		})
	}
	return p
}

// runWords say how much of the plan was run, and why the race ended.
func (r *Race) runWords() string {
	return fmt.Sprintf("%s in the race, %s with the confirmation's; every arm in every block would be %d. Ended: %s. "+
		"The whole race leaves out its best arm with a probability of at most %s; arms that are behind were left out because the trials or the time did not suffice for all.",
		quantity.Plural(r.Blocks, "block"), quantity.Plural(r.Trials, "trial"), r.Exhaustive, cmp.Or(r.Ended, "not yet"), part.Share(ErrorRate))
}

// candidateTable has a row for each arm.
func (r *Race) candidateTable() part.Table {
	t := part.Table{
		Caption: "Figures and ratios to " + r.Baseline + " are of the race's blocks, which chose the winner: what it gains is told by the fresh blocks alone.",
		Columns: slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles("fate"), part.Figures("blocks", part.Label(r.Spec.Best), "÷ "+r.Baseline)),
	}
	largest, own := 0.0, 0.0 // the baseline's
	for _, c := range r.Candidates {
		largest = max(largest, c.Figure.Value)
		if c.Arm == r.Baseline {
			own = c.Figure.Value
		}
	}
	scale := part.ScaleFor(r.Spec.Best, largest)
	for _, c := range r.Candidates {
		row := []part.Datum{part.Word(c.Arm), {Text: r.fateText(c), Detail: c.Reason}, part.Count(c.Blocks)}
		if c.Figure.N == 0 {
			t.Rows = append(t.Rows, append(row, part.Missing(), part.Missing()))
			continue
		}
		row = append(row, part.AmountOf(c.Figure, scale))
		if c.Arm == r.Baseline || c.Ratio.Point == 0 {
			row = append(row, part.Missing())
		} else {
			ratio := part.Amount(c.Ratio.Point, c.Ratio.Low, c.Ratio.High, part.ScaleFor("", c.Ratio.Point))
			if base := scale.Format(c.BaseValue); base != scale.Format(own) { // not all of its blocks
				ratio.Figure.Note = "of " + base
			}
			row = append(row, ratio)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// fateText says what became of an arm.
func (r *Race) fateText(c Candidate) string {
	switch {
	case c.Arm == r.Recommended:
		return "recommended"
	case c.Arm == r.Baseline:
		return "defaults"
	case c.Arm == r.Winner:
		return "won the race"
	case c.Fate == Slower:
		return "slower than " + c.By
	}
	return string(c.Fate)
}

// recommended has the settings to write, and the gain with what it costs.
func (r *Race) recommended() []part.Table {
	settings := part.Table{Columns: part.Titles("setting", "level", "elsewhere")}
	for _, s := range r.Settings {
		settings.Rows = append(settings.Rows, part.Row(s.Factor, s.Level, s.As))
	}
	gained := part.Table{
		Caption: fmt.Sprintf("%s and %s in the fresh blocks. The first row is judged, the others are explored.", r.Winner, r.Baseline),
		Columns: slices.Concat(part.Titles("metric"), part.Figures(r.Winner, r.Baseline, "÷"), part.OfKind(part.Verdicts, "verdict")),
	}
	if r.Gain != nil {
		for _, c := range slices.Insert(slices.Clone(r.Costs), 0, *r.Gain) {
			scale := part.ScaleFor(c.Metric, max(c.Value, c.BaseValue))
			gained.Rows = append(gained.Rows, []part.Datum{
				part.Word(part.Joined(", ", part.Label(c.Metric), scale.Unit)), part.Value(scale.Format(c.Value), ""), part.Value(scale.Format(c.BaseValue), ""),
				part.Quotient(c), {Verdict: c.Verdict, Detail: c.Reason},
			})
		}
	}
	var tables []part.Table
	for _, t := range []part.Table{settings, gained} {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

// optionTable has a row for each level of each setting that was raced by itself.
func (r *Race) optionTable() part.Table {
	t := part.Table{Columns: slices.Concat(part.Titles("setting", "level"), part.Figures("÷ "+r.Baseline), part.Titles("what it did"))}
	for _, k := range r.Options {
		for i, tried := range k.Tried {
			what := ""
			if i == 0 {
				what = string(k.Effect)
			}
			figure := part.Missing()
			if tried.Ratio.Point > 0 {
				figure = part.Amount(tried.Ratio.Point, tried.Ratio.Low, tried.Ratio.High, part.ScaleFor("", tried.Ratio.Point))
			}
			t.Rows = append(t.Rows, []part.Datum{part.Word(k.Factor), part.Word(tried.Level), figure, part.Word(what)})
		}
		if len(k.Tried) == 0 {
			t.Rows = append(t.Rows, []part.Datum{part.Word(k.Factor), part.Missing(), part.Missing(), part.Word(string(k.Effect))})
		}
	}
	return t
}
