package report

import (
	"fmt"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/read/race"
)

// race lays out what a race recommends, what became of every arm, and what each setting
// did by itself.
func (l *layout) race() []Section {
	r := l.Findings.Race
	if r == nil {
		return nil
	}
	note := fmt.Sprintf("%s Ended: %s. The whole race leaves out its best arm with a probability of at most %s; arms that are behind were left out because the trials or the time did not suffice for all.",
		raceTrials(r), or(r.Ended, "not yet"), shareText(race.ErrorRate))
	sections := []Section{{ID: "race", Title: "The race", Note: note, Tables: []Table{l.candidates(r)}}}
	if len(r.Settings) > 0 || len(r.Costs) > 0 {
		sections = append(sections, Section{ID: "race-settings", Title: "Winner and baseline in fresh blocks", Tables: l.recommended(r)})
	}
	if len(r.Knobs) > 0 {
		sections = append(sections, Section{
			ID: "race-knobs", Title: "Each setting by itself",
			Note:   "Arms that differ from " + r.Baseline + " in one setting alone, over the blocks of the race. The 95 % intervals rest on the noise of all arms.",
			Tables: []Table{knobTable(r)},
		})
	}
	return sections
}

// raceTrials says how much of the plan was run.
func raceTrials(r *race.Race) string {
	return fmt.Sprintf("%s in the race, %s with the confirmation's; every arm in every block would be %d.", quantity.Plural(r.Blocks, "block"), quantity.Plural(r.Trials, "trial"), r.Exhaustive)
}

// candidates has a row for each arm.
func (l *layout) candidates(r *race.Race) Table {
	t := Table{
		Caption: "Figures and ratios to " + r.Baseline + " are of the race's blocks, which chose the winner: what it gains is told by the fresh blocks alone.",
		Columns: slices.Concat(ofKind(Arms, "arm"), columns("fate"), numbers("blocks", labelOf(r.Spec.Best), "÷ "+r.Baseline)),
	}
	largest, own := 0.0, 0.0 // the baseline's
	for _, c := range r.Candidates {
		largest = max(largest, c.Figure.Value)
		if c.Arm == r.Baseline {
			own = c.Figure.Value
		}
	}
	scale := scaleFor(r.Spec.Best, largest)
	for _, c := range r.Candidates {
		row := []Datum{l.named(c.Arm), {Text: fateText(r, c), Detail: c.Reason}, number(fmt.Sprint(c.Blocks), "")}
		if c.Figure.N == 0 {
			t.Rows = append(t.Rows, append(row, missing(), missing()))
			continue
		}
		row = append(row, amountOf(c.Figure, scale))
		if c.Arm == r.Baseline || c.Ratio.Point == 0 {
			row = append(row, missing())
		} else {
			ratio := amount(c.Ratio.Point, c.Ratio.Low, c.Ratio.High, scaleFor("", c.Ratio.Point))
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
func fateText(r *race.Race, c race.Candidate) string {
	switch {
	case c.Arm == r.Recommended:
		return "recommended"
	case c.Arm == r.Baseline:
		return "defaults"
	case c.Arm == r.Winner:
		return "won the race"
	case c.Fate == race.Slower:
		return "slower than " + c.By
	}
	return string(c.Fate)
}

// recommended has the settings to write, and the gain with what it costs.
func (l *layout) recommended(r *race.Race) []Table {
	settings := Table{Columns: columns("setting", "level", "elsewhere")}
	for _, s := range r.Settings {
		settings.Rows = append(settings.Rows, words(s.Factor, s.Level, s.As))
	}
	gained := Table{
		Caption: fmt.Sprintf("%s and %s in the fresh blocks. The first row is judged, the others are explored.", r.Winner, r.Baseline),
		Columns: slices.Concat(columns("metric"), numbers(r.Winner, r.Baseline, "÷"), ofKind(Verdicts, "verdict")),
	}
	if r.Gain != nil {
		for _, c := range slices.Insert(slices.Clone(r.Costs), 0, *r.Gain) {
			scale := scaleFor(c.Metric, max(c.Value, c.BaseValue))
			gained.Rows = append(gained.Rows, []Datum{
				word(joined(", ", labelOf(c.Metric), scale.Unit)), number(scale.Format(c.Value), ""), number(scale.Format(c.BaseValue), ""),
				ratioDatum(c), {Verdict: c.Verdict, Detail: c.Reason},
			})
		}
	}
	var tables []Table
	for _, t := range []Table{settings, gained} {
		if len(t.Rows) > 0 {
			tables = append(tables, t)
		}
	}
	return tables
}

// knobTable has a row for each level of each setting that was raced by itself.
func knobTable(r *race.Race) Table {
	t := Table{Columns: slices.Concat(columns("setting", "level"), numbers("÷ "+r.Baseline), columns("what it did"))}
	for _, k := range r.Knobs {
		for i, tried := range k.Tried {
			what := ""
			if i == 0 {
				what = string(k.Effect)
			}
			figure := missing()
			if tried.Ratio.Point > 0 {
				figure = amount(tried.Ratio.Point, tried.Ratio.Low, tried.Ratio.High, scaleFor("", tried.Ratio.Point))
			}
			t.Rows = append(t.Rows, []Datum{word(k.Factor), word(tried.Level), figure, word(what)})
		}
		if len(k.Tried) == 0 {
			t.Rows = append(t.Rows, []Datum{word(k.Factor), missing(), missing(), word(string(k.Effect))})
		}
	}
	return t
}

// raceForms are the tables that a terminal shows of a race.
func (l *layout) raceForms() [][]Table {
	whole := l.candidates(l.Findings.Race)
	whole.Caption = ""
	short := whole
	short.Rows = nil
	for i, c := range l.Findings.Race.Candidates {
		if c.Fate == race.Stayed || c.Arm == l.Findings.Race.Winner || c.Arm == l.Findings.Race.Baseline {
			short.Rows = append(short.Rows, whole.Rows[i])
		}
	}
	return [][]Table{{whole}, {short}}
}
