package report

import (
	"slices"
	"strings"
)

// settings are what the workers ran with, and what the study varied and held.
func (l *layout) settings() Section {
	held := Table{Caption: "Held in every trial.", Columns: columns("factor", "level")}
	for _, name := range sortedKeys(l.Header.Study.Hold) {
		held.Rows = append(held.Rows, words(name, l.Header.Study.Hold[name]))
	}
	varied := Table{Caption: "Varied.", Columns: columns("factor", "levels")}
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
	t := Table{Caption: "Effective settings by arm.", Columns: columns("setting")}
	byArm, names := l.settingsByArm()
	for _, k := range l.keys {
		t.Columns = append(t.Columns, Column{Title: k.Name})
	}
	for _, name := range names {
		row := words(name)
		var seen []string
		for _, values := range byArm {
			text := or(strings.Join(values[name], ", "), none)
			if text != none && !slices.Contains(seen, text) {
				seen = append(seen, text)
			}
			row = append(row, word(text))
		}
		for i := range row {
			row[i].Strong = len(seen) > 1
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// settingsByArm collects the distinct values of every setting over the cells,
// by the arm's place, and the settings' names.
func (l *layout) settingsByArm() (byArm []map[string][]string, names []string) {
	byArm = make([]map[string][]string, len(l.keys))
	for i := range byArm {
		byArm[i] = map[string][]string{}
	}
	known := map[string]bool{}
	note := func(values map[string][]string, name, value string) {
		if value != "" && !slices.Contains(values[name], value) {
			values[name] = append(values[name], value)
			known[name] = true
		}
	}
	for _, c := range l.Cells {
		for _, a := range c.Arms {
			place, ok := l.place[a.Name]
			if !ok {
				continue
			}
			note(byArm[place], "delivery", a.Delivery)
			for name, value := range a.Settings {
				note(byArm[place], name, value)
			}
		}
	}
	return byArm, sortedKeys(known)
}
