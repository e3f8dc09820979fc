package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/capacity"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
)

// capacity makes the section on the highest rate of each arm: what was found, what limits
// it there and raises it, and every window.
func (l *layout) capacity() []Section {
	c := l.Capacity
	if c == nil {
		return nil
	}
	note := fmt.Sprintf("The highest rate at which half of the windows meet %s and keep up with the schedule. Response times count from when an exchange was due. "+
		"The interval has 95%s%% confidence, and its lower end allows for windows being finite.", finding.ObjectiveWords(c.Spec), noBreak)
	found := Section{ID: "capacity-found", Title: "The highest rate that meets the objective", Note: note, Tables: []Table{l.carried(true)}}
	return []Section{found, {ID: "capacity-windows", Title: "Every window", Tables: []Table{l.windows()}}}
}

// capacityForms are what a terminal shows of it.
func (l *layout) capacityForms() [][]Table { return [][]Table{{l.carried(true)}, {l.carried(false)}} }

// carried has a row for each arm and cell.
func (l *layout) carried(whole bool) Table {
	c := l.Capacity
	several := slices.ContainsFunc(c.Arms, func(a capacity.Arm) bool { return a.Cell != "" })
	t := Table{Columns: ofKind(Arms, "arm")}
	if several {
		t.Columns = append(t.Columns, columns("cell")...)
	}
	t.Columns = append(t.Columns, numbers("carries, 1/s", "÷ "+or(l.Header.Study.Compare.Baseline, "baseline"))...)
	if whole {
		t.Columns = append(t.Columns, numbers("flat out, 1/s", "windows", "met", "scatter")...)
	}
	t.Columns = append(t.Columns, columns("limit")...)
	for _, a := range c.Arms {
		row := []Datum{l.named(a.Arm)}
		if several {
			row = append(row, word(a.Cell))
		}
		row = append(row, carriedDatum(a), l.ratioDatum(a))
		if whole {
			met := 0
			for _, try := range a.Tries {
				if try.Met {
					met++
				}
			}
			row = append(row, perSecond(a.ClosedS), number(fmt.Sprint(len(a.Tries)), ""), number(fmt.Sprint(met), ""), shareDatum(a.Spread))
		}
		t.Rows = append(t.Rows, append(row, word(string(a.Limit))))
		t.Notes = append(t.Notes, capacityNotes(a)...)
	}
	return t
}

func capacityNotes(a capacity.Arm) []string {
	var notes []string
	if a.Why != "" {
		notes = append(notes, dotted(a.Arm+": "+a.Why))
	}
	if n := len(a.Untold); n > 0 {
		notes = append(notes, dotted(fmt.Sprintf("%s: %s told nothing of the objective, which is no evidence against the server; the last because %s", a.Arm, quantity.Plural(n, "window"), a.Untold[n-1].Why)))
	}
	if a.Short {
		notes = append(notes, dotted(fmt.Sprintf("%s: windows of %.3g s are short for this objective, and may pass at rates a little too high; a longer time allows for longer ones", a.Arm, a.LongestS)))
	}
	if a.Limit != "" && a.Limit != trial.Unknown && a.Rate != nil {
		limit := finding.CapacityLimit(a.Limit)
		text := a.Arm + ": " + limit.Means
		if limit.Cure != "" {
			text += ". To carry more: " + limit.Cure
		}
		notes = append(notes, dotted(text))
	}
	return notes
}

func carriedDatum(a capacity.Arm) Datum {
	switch {
	case a.None:
		return number("none", "")
	case a.Rate == nil:
		return number("undecided", "")
	case a.AtLeast:
		return number("≥ "+perSecond(a.Rate.Value).Figure.Text, "")
	}
	return amount(a.Rate.Value, a.Rate.Low, a.Rate.High, scaleFor("", a.Rate.Value))
}

func (l *layout) ratioDatum(a capacity.Arm) Datum {
	for _, r := range l.Capacity.Ratios {
		if r.Arm == a.Arm && r.Cell == a.Cell {
			return amount(r.Value, r.Low, r.High, scaleFor("", r.Value))
		}
	}
	return missing()
}

func perSecond(rate float64) Datum {
	if !(rate > 0) {
		return missing()
	}
	return number(scaleFor("", rate).Format(rate), "")
}

func shareDatum(share float64) Datum {
	if !(share > 0) {
		return missing()
	}
	return number(shareText(share), "")
}

// windows lists what was tried, as it ran.
func (l *layout) windows() Table {
	metric := l.Capacity.Spec.Objective[0].Metric
	t := Table{
		Columns: slices.Concat(ofKind(Arms, "arm"), columns("trial"), numbers("rate, 1/s", "window, s", labelOf(metric)), columns("objective", "why not")),
		Folded:  true,
	}
	for _, a := range l.Capacity.Arms {
		for _, try := range everyWindow(a) {
			met := "met"
			switch {
			case slices.ContainsFunc(a.Untold, func(u capacity.Try) bool { return u.ID == try.ID }):
				met = "tells nothing"
			case !try.Met:
				met = "missed"
			}
			value := missing()
			if try.Value > 0 {
				s := scaleFor(metric, try.Value)
				value = number(strings.TrimSpace(s.Format(try.Value)+" "+s.Unit), "")
			}
			t.Rows = append(t.Rows, []Datum{l.named(a.Arm), word(try.ID), perSecond(try.Rate), number(fmt.Sprintf("%.3g", try.Window), ""), value, word(met), word(try.Why)})
		}
	}
	return t
}

// everyWindow are an arm's windows as they ran, those that tell nothing among them.
func everyWindow(a capacity.Arm) []capacity.Try {
	all := slices.Concat(a.Tries, a.Untold)
	slices.SortStableFunc(all, func(x, y capacity.Try) int { return cmp.Compare(x.Block, y.Block) })
	return all
}
