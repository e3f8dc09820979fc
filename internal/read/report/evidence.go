package report

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

// evidence is what the answers rest on; a section without rows is left out.
func (l *layout) evidence() []part.Section {
	var sections []part.Section
	for _, s := range []part.Section{
		l.trust(), l.noise(), l.comparisons(), l.tcp(), l.udp(), l.settings(), l.facts(), l.calibration(), l.failed(), l.lengths(), l.problems(),
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
		part.Word(cmp.Or(l.cell(cell), "all")), l.named(arm.Name), part.Value(fmt.Sprintf("%d of %d", valid, read), ""),
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
	primary := part.Table{Caption: "Primary metrics, with 95 % intervals.", Columns: headed}
	other := part.Table{Caption: "Other metrics, with 95 % intervals.", Columns: headed, Folded: true}
	for _, n := range l.Noise {
		row := []part.Datum{
			part.Word(cmp.Or(l.cell(n.Cell), "all")), part.Word(part.Label(n.Metric)), {Ratio: noiseRatio(n)},
			part.Value(part.Percent(n.Bound), ""), part.Value(part.Probability(n.P), ""),
		}
		if l.primary[n.Metric] {
			primary.Rows = append(primary.Rows, row)
		} else {
			other.Rows = append(other.Rows, row)
		}
	}
	return part.Section{
		ID: "noise", Title: "A/A: the baseline against itself",
		Notes: []string{"The baseline ran twice in every block, in fresh processes each time. How much it differs from itself is this machine's noise. " +
			"A difference between arms counts only outside the larger of that bound and the study's margin of " + strconv.FormatFloat(100*l.Header.Study.Compare.Margin, 'g', 3, 64) + " %."},
		Tables: []part.Table{part.Bounded(primary), part.Bounded(other)},
	}
}

// noiseRatio is the baseline's ratio to itself.
func noiseRatio(n compare.Noise) *part.Ratio {
	return part.RatioOver(len(n.Ratios), len(n.Ratios), n.Ratio, n.Low, n.High)
}

// Lost counts the trials of an arm that ended without a valid figure for the
// same reason.
type Lost struct {
	Arm    string `json:"arm"`
	Status string `json:"status"` // "failed", "invalid", "missing", "unsupported"
	Reason string `json:"reason"`
	Trials int    `json:"trials"`
}

// lost lists the reasons in the order in which they first occurred.
func (l *layout) lost() []Lost {
	var all []Lost
	seen := map[Lost]int{} // place in all, by what is the same
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			for _, t := range a.Trials {
				if t.Status == trial.Valid {
					continue
				}
				reason := Lost{Arm: a.Name, Status: t.Status, Reason: reasonOf(t)}
				place, known := seen[reason]
				if !known {
					place = len(all)
					seen[reason], all = place, append(all, reason)
				}
				all[place].Trials++
			}
		}
	}
	return all
}

func reasonOf(t trial.Trial) string { return cmp.Or(t.Reason, "no reason was recorded") }

// problems lists every trial that has no valid figure, or has a flag. Its title says
// the worst of it.
func (l *layout) problems() part.Section {
	which := slices.Concat(part.Titles("trial", "cell"), part.OfKind(part.Arms, "arm"), part.Figures("block"))
	lost := part.Table{Caption: "Trials without a valid figure.", Columns: slices.Concat(which, part.Titles("ended", "why"))}
	flagged := part.Table{Caption: "Valid trials with a flag. They are kept.", Columns: slices.Concat(which, part.Titles("flags")), Folded: true}
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			for _, t := range a.Trials {
				row := []part.Datum{part.Word(t.ID), part.Word(cmp.Or(l.cell(c.Name), "all")), l.named(a.Name), part.Value(strconv.Itoa(t.Block), "")}
				switch {
				case t.Status != trial.Valid:
					lost.Rows = append(lost.Rows, append(row, part.Row(t.Status, reasonOf(t))...))
				case len(t.Flags) > 0:
					flagged.Rows = append(flagged.Rows, append(row, part.Word(flagsOf(t))))
				}
			}
		}
	}
	title := "Trials with a flag"
	switch {
	case l.Tally.Failed+l.Tally.Invalid > 0:
		title = "What went wrong"
	case len(lost.Rows) > 0:
		title = "Trials without a figure"
	}
	return part.Section{
		ID: "failures", Title: title,
		Notes:  []string{"Every planned trial leaves one record, also when it fails."},
		Tables: []part.Table{part.Bounded(lost), part.Bounded(flagged)},
	}
}

// flagsOf prints a valid trial's flags, and what it lacks because of them.
func flagsOf(t trial.Trial) string {
	text := strings.Join(t.Flags, ", ")
	if !t.Partial() {
		return text
	}
	text += "; rates, costs and times from the send are left out"
	if times := trial.StallTimes(t.Stalls); times != "" {
		text += ", as nothing moved " + times + " after the window opened"
	}
	return text
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
		t.Rows = append(t.Rows, []part.Datum{part.Word(cmp.Or(l.cell(c.Name), "all")), l.named(a.Name), part.Word(reason), part.Value(strconv.FormatInt(n, 10), ""), part.Word(kind)})
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

// withFailed adds to the forms of a screen's tables, in front of them, the same with
// why exchanges failed, where any did.
func (l *layout) withFailed(forms [][]part.Table) [][]part.Table {
	several := len(l.Cells) > 1 || len(l.keys) > 1
	t := part.Table{Columns: slices.Concat(part.Figures("failed"), part.Titles("reason"))}
	if several {
		t.Columns = append(t.Columns, part.Titles("of")...)
	}
	l.eachFailed(func(c cells.Cell, a cells.Arm, reason, _ string, n int64) {
		row := []part.Datum{part.Value(strconv.FormatInt(n, 10), ""), part.Word(reason)}
		if several {
			row = append(row, part.Word(cells.ArmOf(c, a)))
		}
		t.Rows = append(t.Rows, row)
	})
	if len(t.Rows) == 0 {
		return forms
	}
	if len(forms) == 0 {
		return [][]part.Table{{t}}
	}
	var with [][]part.Table
	for _, tables := range forms {
		with = append(with, append(slices.Clone(tables), t))
	}
	return append(with, forms...)
}
