package report

import (
	"fmt"
	"net/url"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
)

// RunPlace is where one of two runs is.
type RunPlace struct {
	Name   string // as the user named it
	Report string // the address of its report, as the page of both reaches it
}

// runsRow is a primary comparison of two runs as their page shows it: its figures
// lead to the trials behind them.
type runsRow struct {
	Arm, Of       string // the arm; the metric and the cell
	Ratio         part.Ratio
	Gate, P       string
	First, Second linked
}

// linked is a figure and the address of its trials; "" where the report lists none.
type linked struct {
	part.Datum
	Href string
}

// runsRows are the comparisons that have a ratio, and the arms of each metric that
// have none, in words: a row of dashes says nothing.
func runsRows(gated []compare.Gated, runs [2]finding.Findings, places [2]RunPlace) (rows []runsRow, without []string) {
	for _, g := range gated {
		r := part.RatioOf(g.Comparison)
		if r == nil {
			name := part.Label(g.Metric) + " of " + g.Arm + cells.InCell(g.Cell)
			without = append(without, name)
			continue
		}
		of := []string{part.Label(g.Metric), cells.Spoken(g.Cell)}
		if g.Base != "" {
			of = append(of, "each ÷ its run's "+g.Base)
		}
		was, is := bothRuns(g.Comparison)
		rows = append(rows, runsRow{
			Arm: g.Arm, Of: part.Joined(", ", of...), Ratio: *r, Gate: gateWords[g.Result].mark, P: part.Probability(g.Adjusted),
			First:  linked{was, trialsAddress(runs[0], places[0], g.Comparison)},
			Second: linked{is, trialsAddress(runs[1], places[1], g.Comparison)},
		})
	}
	return rows, without
}

// trialsAddress is where a run's report lists the trials of a comparison; web/src/state.ts
// reads it.
func trialsAddress(run finding.Findings, place RunPlace, c compare.Comparison) string {
	cell := slices.IndexFunc(run.Cells, func(cell cells.Cell) bool { return cell.Name == c.Cell })
	if cell < 0 || place.Report == "" {
		return ""
	}
	arms := []string{url.QueryEscape(c.Arm)}
	if c.Base != "" {
		arms = append(arms, url.QueryEscape(c.Base))
	}
	return fmt.Sprintf("%s#trials=%d/%s", place.Report, cell+1, strings.Join(arms, ","))
}

// withoutText names the comparisons without a ratio; "" for none.
func withoutText(without []string) string {
	const named = 4
	if len(without) == 0 {
		return ""
	}
	text := "No figure in enough blocks of both runs: " + strings.Join(without[:min(named, len(without))], "; ")
	if more := len(without) - named; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}
