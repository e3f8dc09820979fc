package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// evidence is what the answers rest on; a section without rows is left out.
func (l *layout) evidence() []part.Section {
	var sections []part.Section
	for _, s := range []part.Section{
		l.trust(), l.noise(), l.comparisons(), l.settings(), l.facts(), l.failed(), l.lengths(), l.problems(),
	} {
		s.Tables = slices.DeleteFunc(s.Tables, func(t part.Table) bool { return len(t.Rows) == 0 })
		if len(s.Tables) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

// trust is what the figures of each arm rest on: consistency checks,
// steadiness, flags, limits.
func (l *layout) trust() part.Section {
	t := part.Table{Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Figures("checks passed", "steady"), part.Titles("flags of valid trials"), part.OfKind(part.Limits, "limit"))}
	for _, cell := range l.Cells {
		for _, arm := range cell.Arms {
			t.Rows = append(t.Rows, l.trustRow(cell.Name, arm))
		}
	}
	return part.Section{
		ID: "trust", Title: "What the figures rest on",
		Notes: []string{"A trial passes the consistency checks when all its counts agree: those of clients and servers, of the kernel, of the interfaces and of the histograms. " +
			"Only such trials are compared. A flag is a remark on a trial that stays in the figures. A trial is steady when its rate has no step and no slope inside the window."},
		Tables: []part.Table{part.Bounded(t)},
	}
}

func (l *layout) trustRow(cell string, arm cells.Arm) []part.Datum {
	valid, read, steady, flags := 0, 0, 0, map[string]int{}
	for _, t := range arm.Trials {
		switch t.Status {
		case trial.StatusInvalid:
			read++
		case trial.Valid:
			read, valid = read+1, valid+1
			if !slices.Contains(t.Flags, trial.Unsteady) {
				steady++
			}
			for _, flag := range t.Flags {
				flags[flag]++
			}
		}
	}
	return []part.Datum{
		part.Word(l.plan.Names.CellOr(cell, "all")), l.named(arm.Name), part.Value(fmt.Sprintf("%d of %d", valid, read), ""),
		part.Value(fmt.Sprintf("%d of %d", steady, valid), ""), part.Word(counted(flags)), part.Word(string(arm.Limit)),
	}
}

// counted lists flags with how many trials have them.
func counted(flags map[string]int) string {
	var parts []string
	for _, flag := range sortedKeys(flags) {
		parts = append(parts, fmt.Sprintf("%s %d", flag, flags[flag]))
	}
	return cmp.Or(strings.Join(parts, ", "), "none")
}

// noise is the A/A comparison: the baseline against its own repeat.
func (l *layout) noise() part.Section {
	headed := slices.Concat(part.Titles("cell", "metric"), part.Figures("repeat ÷ first", "noise bound", "p"))
	t := part.Table{Caption: "Primary metrics, with 95 % intervals.", Columns: headed}
	for _, n := range l.Noise {
		if l.primary[n.Metric] {
			t.Rows = append(t.Rows, []part.Datum{
				part.Word(l.plan.Names.CellOr(n.Cell, "all")), part.Word(part.Label(n.Metric)), {Ratio: noiseRatio(n)},
				part.Value(quantity.FormatShare(n.Bound), ""), part.Value(part.Probability(n.P), ""),
			})
		}
	}
	return part.Section{
		ID: "noise", Title: "A/A: the baseline against itself",
		Notes: []string{"The baseline ran twice in every block, in fresh processes each time. How much it differs from itself is this machine's noise. " +
			"A difference between arms counts only outside the larger of that bound and the study's margin of " + strconv.FormatFloat(100*l.plan.Compare.Margin, 'g', 3, 64) + " %."},
		Tables: []part.Table{part.Bounded(t)},
	}
}

// noiseRatio is the baseline's ratio to itself.
func noiseRatio(n compare.Noise) *part.Ratio {
	return part.RatioOver(len(n.Ratios), len(n.Ratios), n.Ratio, n.Low, n.High)
}

func reasonOf(t trial.Trial) string { return cmp.Or(t.Reason, "no reason was recorded") }

// problems lists every trial that has no valid figure. Its title says the worst of it.
func (l *layout) problems() part.Section {
	t := part.Table{Columns: slices.Concat(part.Titles("trial", "cell"), part.OfKind(part.Arms, "arm"), part.Figures("block"), part.Titles("ended", "why"))}
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			for _, trial := range a.Trials {
				if unlessValid(trial.Status) != "" {
					t.Rows = append(t.Rows, []part.Datum{
						part.Word(trial.ID), part.Word(l.plan.Names.CellOr(c.Name, "all")), l.named(a.Name), part.Count(trial.Block), part.Word(trial.Status), part.Word(reasonOf(trial)),
					})
				}
			}
		}
	}
	title := "Trials without a figure"
	if l.Tally.Failed+l.Tally.Invalid > 0 {
		title = "What went wrong"
	}
	return part.Section{ID: "failures", Title: title, Notes: []string{"Every planned trial leaves one record, also when it fails."}, Tables: []part.Table{part.Bounded(t)}}
}

// failedID names the section of the exchanges that failed.
const failedID = "failed"

// failed lists why exchanges failed, by arm and cell, the most frequent reasons first.
func (l *layout) failed() part.Section {
	t := part.Table{
		Caption: "Exchanges that failed. Rates, times and costs are of the others.",
		Columns: slices.Concat(part.Titles("cell"), part.OfKind(part.Arms, "arm"), part.Titles("reason"), part.Figures("exchanges"), part.Titles("kind")),
	}
	l.eachFailed(func(c cells.Cell, a cells.Arm, reason, kind string, n int64) {
		t.Rows = append(t.Rows, []part.Datum{part.Word(l.plan.Names.CellOr(c.Name, "all")), l.named(a.Name), part.Word(reason), part.Value(strconv.FormatInt(n, 10), ""), part.Word(kind)})
	})
	return part.Section{ID: failedID, Title: "Failed exchanges", Tables: []part.Table{part.Bounded(t)}}
}

func (l *layout) eachFailed(do func(c cells.Cell, a cells.Arm, reason, kind string, n int64)) {
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			_, _, why := a.Failures()
			for _, r := range why {
				do(c, a, r.Text, string(r.Kind), r.Count)
			}
		}
	}
}

// failedTable says why exchanges failed; without rows where none did.
func (l *layout) failedTable() part.Table {
	several := len(l.Cells) > 1 || len(l.keys) > 1
	t := part.Table{Columns: slices.Concat(part.Figures("failed"), part.Titles("reason"))}
	if several {
		t.Columns = append(t.Columns, part.Titles("of")...)
	}
	l.eachFailed(func(c cells.Cell, a cells.Arm, reason, _ string, n int64) {
		row := []part.Datum{part.Value(strconv.FormatInt(n, 10), ""), part.Word(reason)}
		if several {
			row = append(row, part.Word(a.Name+l.plan.Names.At(c.Name)))
		}
		t.Rows = append(t.Rows, row)
	})
	return t
}
