package report

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// maxRows bounds a table; findings.json beside the report has every row.
const maxRows = 500

func (l *layout) evidence() []Section {
	var sections []Section
	for _, s := range []Section{
		l.served(), l.trust(), l.noise(), l.comparisons(), l.publishedSection(), l.tcp(), l.settings(), l.facts(), l.calibration(), l.failures(),
	} {
		s.Tables = slices.DeleteFunc(s.Tables, func(t Table) bool { return len(t.Rows) == 0 })
		if len(s.Tables) > 0 {
			sections = append(sections, s)
		}
	}
	return sections
}

// bounded cuts a table at maxRows and says so in its caption.
func bounded(t Table) Table {
	if more := len(t.Rows) - maxRows; more > 0 {
		t.Rows = t.Rows[:maxRows]
		t.Caption += fmt.Sprintf(" %d more rows are in findings.json.", more)
	}
	return t
}

func (l *layout) noise() Section {
	primary := Table{Caption: "Primary metrics.", Columns: head("cell", "metric", "#repeat ÷ first", "#95 % interval", "#noise bound", "#p")}
	other := Table{Caption: "Other metrics.", Columns: primary.Columns, Folded: true}
	for _, n := range l.Noise {
		row := words(or(n.Cell, "all"), n.Metric, ratio(n.Ratio), ratioInterval(n.Low, n.High), percent(n.Bound), probability(n.P))
		if l.primary[n.Metric] {
			primary.Rows = append(primary.Rows, row)
		} else {
			other.Rows = append(other.Rows, row)
		}
	}
	return Section{
		ID: "noise", Title: "A/A: what differs here when nothing differs",
		Note: "The baseline ran twice in every block, in fresh processes each time. What separates it from itself is this machine's noise; " +
			"a difference between arms counts only outside the larger of that bound and the study's margin of " + strconv.FormatFloat(100*l.Header.Study.Compare.Margin, 'g', 3, 64) + " %.",
		Tables: []Table{bounded(primary), bounded(other)},
	}
}

func (l *layout) comparisons() Section {
	base := or(l.Header.Study.Compare.Baseline, "baseline")
	other := base
	if len(l.Header.Study.Compare.Also) > 0 {
		other = "the other's"
	}
	columns := head("cell", "metric", "arm", "#its figure", "#"+other, "#ratio", "#blocks", "#p", "#adjusted p", "#bound", "verdict")
	primary := Table{Caption: "Primary comparisons, declared before the run.", Columns: columns}
	explored := Table{Columns: columns[:7], Folded: true}
	for _, c := range l.Comparisons {
		if c.Primary {
			primary.Rows = append(primary.Rows, l.comparisonRow(c))
		} else {
			explored.Rows = append(explored.Rows, l.exploredRow(c))
		}
	}
	explored.Caption = fmt.Sprintf("%s: explored comparisons, on every other metric (%d).", upperFirst(notJudged), len(explored.Rows))
	return Section{
		ID: "comparisons", Title: "Comparisons",
		Note: "Ratios are arm ÷ " + base + " where nothing else is said, the geometric mean of the ratios within blocks: the quotient of the two figures over the blocks that both arms have. The interval is by t on their logarithms, " +
			"p by the exact sign-flip permutation test. On a primary metric, better or worse needs an adjusted p of at most " + strconv.FormatFloat(l.level(), 'g', 3, 64) + " and an interval outside the bound. Other metrics are not judged: among so many, some differ by chance.",
		Tables: []Table{bounded(primary), bounded(explored)},
	}
}

func (l *layout) comparisonRow(c compare.Comparison) []Datum {
	why := c.Reason
	if c.Decides != "" {
		why = strings.TrimPrefix(why+"; "+c.Decides, "; ")
	}
	row := append(l.ratioRow(c),
		Datum{Text: probability(c.P)},
		Datum{Text: probability(c.Adjusted), Detail: fmt.Sprintf("%s over %d", or(c.Method, "none"), c.Family)},
		Datum{Text: percent(c.Bound)}, Datum{Text: string(c.Verdict), Verdict: c.Verdict, Detail: why})
	if c.Ratio <= 0 {
		row[7], row[8] = Datum{Text: "–"}, Datum{Text: "–"}
	}
	return row
}

// pairText names the arm, and of a comparison besides those with the baseline
// also by what it is divided.
func (l *layout) pairText(c compare.Comparison) string {
	if c.Base == "" || c.Base == l.Header.Study.Compare.Baseline {
		return c.Arm
	}
	return c.Arm + " ÷ " + c.Base
}

// exploredRow has no p and no verdict; a comparison whose figures may not be
// compared has its reason in the place of its ratio.
func (l *layout) exploredRow(c compare.Comparison) []Datum {
	row := l.ratioRow(c)
	if withheld(c) {
		row[5] = Datum{Text: "–", Detail: c.Reason}
	}
	return row
}

// ratioRow is what a comparison divides, and what comes out.
func (l *layout) ratioRow(c compare.Comparison) []Datum {
	value, base := quotientOf(c)
	row := words(or(c.Cell, "all"), c.Metric, l.pairText(c), value, base, ratioOrNone(c), fmt.Sprint(c.Blocks))
	if c.Ratio > 0 {
		row[5].Detail = ratioInterval(c.Low, c.High)
	}
	if place, ok := l.place[c.Arm]; ok {
		row[2].Arm = &place
	}
	return row
}

func (l *layout) settings() Section {
	held := Table{Caption: "Held in every trial.", Columns: head("factor", "level")}
	for _, name := range sortedKeys(l.Header.Study.Hold) {
		held.Rows = append(held.Rows, words(name, l.Header.Study.Hold[name]))
	}
	varied := Table{Caption: "Varied.", Columns: head("factor", "levels")}
	for _, f := range l.Header.Study.Vary {
		varied.Rows = append(varied.Rows, words(f.Name, strings.Join(f.Levels, ", ")))
	}
	return Section{
		ID: "settings", Title: "Settings",
		Note:   "As the workers reported them after defaults were filled in, not as they were asked for. Rows in which arms differ are bold.",
		Tables: []Table{l.settingTable(), varied, held},
	}
}

// settingTable has one row per setting and one column per arm; a setting that
// changes from cell to cell lists its values.
func (l *layout) settingTable() Table {
	t := Table{Caption: "Effective settings by arm.", Columns: head("setting")}
	byArm := make([]map[string][]string, len(l.keys))
	names := map[string]bool{}
	note := func(place int, name, value string) {
		if byArm[place] == nil {
			byArm[place] = map[string][]string{}
		}
		if value != "" && !slices.Contains(byArm[place][name], value) {
			byArm[place][name] = append(byArm[place][name], value)
			names[name] = true
		}
	}
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			place, ok := l.place[a.Name]
			if !ok {
				continue
			}
			note(place, "delivery", a.Delivery)
			for name, value := range a.Settings {
				note(place, name, value)
			}
		}
	}
	for _, k := range l.keys {
		t.Columns = append(t.Columns, Column{Title: k.Name})
	}
	for _, name := range sortedKeys(names) {
		row := words(name)
		var seen []string
		for _, values := range byArm {
			text := or(strings.Join(values[name], ", "), "–")
			if text != "–" && !slices.Contains(seen, text) {
				seen = append(seen, text)
			}
			row = append(row, Datum{Text: text})
		}
		for i := range row {
			row[i].Strong = len(seen) > 1
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func (l *layout) facts() Section {
	s := Section{ID: "facts", Title: "Facts", Note: "What was found on each seat before the run.", Tables: []Table{l.seats()}}
	for _, seat := range sortedKeys(l.Header.Facts.Seats) {
		t := Table{Caption: "Seat " + seat + ".", Columns: head("fact", "value"), Folded: true}
		values := l.Header.Facts.Seats[seat].Values
		for _, name := range sortedKeys(values) {
			t.Rows = append(t.Rows, words(name, values[name]))
		}
		s.Tables = append(s.Tables, t)
	}
	tools := Table{Caption: "Worker binaries.", Columns: head("binary", "version", "sha256", "libraries"), Folded: true}
	for _, name := range sortedKeys(l.Header.Facts.Tools) {
		tools.Rows = append(tools.Rows, toolRow(name, l.Header.Facts.Tools[name]))
	}
	s.Tables = append(s.Tables, tools)
	return s
}

// seats says who sat where, and how far from here by the clock.
func (l *layout) seats() Table {
	t := Table{Caption: "Seats.", Columns: head("seat", "workers", "CPUs", "address", "host", "kernel", "clock ahead by")}
	for _, seated := range l.Seating {
		facts := l.Header.Facts.Seats[seated.Seat].Values
		t.Rows = append(t.Rows, words(seated.Seat, strings.Join(seated.Workers, ", "), or(strings.Join(seated.CPUs, " or "), "any"),
			or(facts[record.AddressFact], "–"), or(facts["host.name"], "–"), or(facts["kernel.release"], "–"), or(facts[record.OffsetFact], "–")))
	}
	return t
}

func toolRow(name string, b record.Binary) []Datum {
	libraries := make([]string, len(b.Libraries))
	for i, lib := range b.Libraries {
		libraries[i] = strings.TrimSpace(lib.Name + " " + lib.Version)
	}
	sum := b.SHA256
	if len(sum) > 16 {
		sum = sum[:16] + "…"
	}
	return words(name, or(b.Version, "–"), or(sum, "–"), or(strings.Join(libraries, ", "), "–"))
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

// lostCaption names the table of trials without a valid figure.
const lostCaption = "Trials without a valid figure."

func (l *layout) failures() Section {
	lost := Table{Caption: lostCaption, Columns: head("trial", "cell", "arm", "#block", "ended", "why")}
	flagged := Table{Caption: "Valid trials with a flag: kept, never trimmed.", Columns: head("trial", "cell", "arm", "#block", "flags"), Folded: true}
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			for _, t := range a.Trials {
				row := words(t.ID, or(c.Name, "all"), a.Name, fmt.Sprint(t.Block))
				switch {
				case t.Status != "valid":
					lost.Rows = append(lost.Rows, append(row, words(t.Status, or(t.Reason, "no reason was recorded"))...))
				case len(t.Flags) > 0:
					flagged.Rows = append(flagged.Rows, append(row, words(flagsOf(t))...))
				}
			}
		}
	}
	return Section{
		ID: "failures", Title: "What went wrong",
		Note:   "Every planned trial leaves one record, also when it fails.",
		Tables: []Table{bounded(lost), bounded(flagged)},
	}
}
