package capacity

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// Headline answers how much each arm carries.
func (c *Capacity) Headline() part.Headline {
	if c == nil {
		return part.Headline{}
	}
	return part.Headline{
		Place: part.Whole, Sentences: c.sentences(), Forms: [][]part.Table{{c.carried(true)}, {c.carried(false)}},
		Open: len(c.Arms) == 0 || slices.ContainsFunc(c.Arms, func(a Arm) bool { return !a.Answered() }),
	}
}

// Part lays out the highest rate of each arm: what was found, what limits it there and
// raises it, and every window.
func (c *Capacity) Part() part.Part {
	p := part.Part{ID: "capacity", Title: "Capacity"}
	if c == nil {
		return p
	}
	p.Sections = []part.Section{{
		ID: "capacity-found", Title: "The highest rate that meets the objective", Tables: []part.Table{c.carried(true)},
		Sentences: []string{fmt.Sprintf("The highest rate at which half of the windows meet %s and keep up with the schedule. Response times count from when an exchange was due. "+
			"The interval has 95%s%% confidence, and its lower end allows for windows being finite.", objectiveWords(c.Spec), part.NoBreak)},
	}, {ID: "capacity-windows", Title: "Every window", Tables: []part.Table{c.windows()}}}
	return p
}

// carried has a row for each arm and cell.
func (c *Capacity) carried(whole bool) part.Table {
	several := slices.ContainsFunc(c.Arms, func(a Arm) bool { return a.Cell != "" })
	t := part.Table{Columns: part.OfKind(part.Arms, "arm")}
	if several {
		t.Columns = append(t.Columns, part.Titles("cell")...)
	}
	t.Columns = append(t.Columns, part.Figures("carries, 1/s", "÷ "+cmp.Or(c.Baseline, "baseline"))...)
	if whole {
		t.Columns = append(t.Columns, part.Figures("flat out, 1/s", "windows", "met", "scatter")...)
	}
	t.Columns = append(t.Columns, part.Titles("limit")...)
	for _, a := range c.Arms {
		row := []part.Datum{part.Word(a.Arm)}
		if several {
			row = append(row, part.Word(a.Cell))
		}
		row = append(row, carriedDatum(a), c.ratioDatum(a))
		if whole {
			met := 0
			for _, try := range a.Tries {
				if try.Met {
					met++
				}
			}
			row = append(row, perSecond(a.ClosedS), part.Count(len(a.Tries)), part.Count(met), shareDatum(a.Spread))
		}
		t.Rows = append(t.Rows, append(row, part.Word(string(a.Limit))))
		t.Notes = append(t.Notes, notesOn(a)...)
	}
	return t
}

func notesOn(a Arm) []string {
	var notes []string
	if a.Why != "" {
		notes = append(notes, part.Dotted(a.Arm+": "+a.Why))
	}
	if n := len(a.Untold); n > 0 {
		notes = append(notes, part.Dotted(fmt.Sprintf("%s: %s told nothing of the objective, which is no evidence against the server; the last because %s", a.Arm, quantity.Plural(n, "window"), a.Untold[n-1].Why)))
	}
	if a.Short {
		notes = append(notes, part.Dotted(fmt.Sprintf("%s: windows of %.3g s are short for this objective, and may pass at rates a little too high; a longer time allows for longer ones", a.Arm, a.LongestS)))
	}
	if a.Limit != "" && a.Limit != trial.Unknown && a.Rate != nil {
		limit := limitMeans(a.Limit)
		text := a.Arm + ": " + limit.Means
		if limit.Cure != "" {
			text += ". To carry more: " + limit.Cure
		}
		notes = append(notes, part.Dotted(text))
	}
	return notes
}

func carriedDatum(a Arm) part.Datum {
	switch {
	case a.None:
		return part.Value("none", "")
	case a.Rate == nil:
		return part.Value("undecided", "")
	case a.AtLeast:
		return part.Value("≥ "+perSecond(a.Rate.Value).Figure.Text, "")
	}
	return part.Amount(a.Rate.Value, a.Rate.Low, a.Rate.High, part.ScaleFor("", a.Rate.Value))
}

func (c *Capacity) ratioDatum(a Arm) part.Datum {
	for _, r := range c.Ratios {
		if r.Arm == a.Arm && r.Cell == a.Cell {
			return part.Amount(r.Value, r.Low, r.High, part.ScaleFor("", r.Value))
		}
	}
	return part.Missing()
}

func perSecond(rate float64) part.Datum {
	if !(rate > 0) {
		return part.Missing()
	}
	return part.Value(part.ScaleFor("", rate).Format(rate), "")
}

func shareDatum(share float64) part.Datum {
	if !(share > 0) {
		return part.Missing()
	}
	return part.Value(part.Share(share), "")
}

// windows lists what was tried, as it ran.
func (c *Capacity) windows() part.Table {
	metric := c.Spec.Objective[0].Metric
	t := part.Table{
		Columns: slices.Concat(part.OfKind(part.Arms, "arm"), part.Titles("trial"), part.Figures("rate, 1/s", "window, s", part.Label(metric)), part.Titles("objective", "why not")),
		Folded:  true,
	}
	for _, a := range c.Arms {
		for _, try := range everyWindow(a) {
			met := "met"
			switch {
			case slices.ContainsFunc(a.Untold, func(u Try) bool { return u.ID == try.ID }):
				met = "tells nothing"
			case !try.Met:
				met = "missed"
			}
			value := part.Missing()
			if try.Value > 0 {
				value = part.Value(part.WithUnit(try.Value, part.ScaleFor(metric, try.Value)), "")
			}
			t.Rows = append(t.Rows, []part.Datum{part.Word(a.Arm), part.Word(try.ID), perSecond(try.Rate), part.Value(fmt.Sprintf("%.3g", try.Window), ""), value, part.Word(met), part.Word(try.Why)})
		}
	}
	return t
}

// everyWindow are an arm's windows as they ran, those that tell nothing among them.
func everyWindow(a Arm) []Try {
	all := slices.Concat(a.Tries, a.Untold)
	slices.SortStableFunc(all, func(x, y Try) int { return cmp.Compare(x.Block, y.Block) })
	return all
}
