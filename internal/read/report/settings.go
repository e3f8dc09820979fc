package report

import (
	"cmp"
	"slices"
	"strings"

	"netdyno/internal/read/part"
)

// settings are what the workers ran with, and what the study varied and held.
func (l *layout) settings() part.Section {
	held := part.Table{Caption: "Held in every trial.", Columns: part.Titles("factor", "level")}
	for _, name := range sortedKeys(l.Header.Study.Hold) {
		held.Rows = append(held.Rows, part.Row(name, l.Header.Study.Hold[name]))
	}
	varied := part.Table{Caption: "Varied.", Columns: part.Titles("factor", "levels")}
	for _, f := range l.Header.Study.Vary {
		varied.Rows = append(varied.Rows, part.Row(f.Name, strings.Join(f.Levels, ", ")))
	}
	return part.Section{
		ID: "settings", Title: "Settings",
		Notes:  []string{"As the workers reported them after defaults were filled in, not as they were asked for. Rows in which arms differ are bold."},
		Tables: []part.Table{l.settingTable(), varied, held},
	}
}

// settingTable has one row per setting and one column per arm; a setting that
// changes from cell to cell lists its values.
func (l *layout) settingTable() part.Table {
	t := part.Table{Caption: "Effective settings by arm.", Columns: part.Titles("setting")}
	byArm, names := l.settingsByArm()
	for _, k := range l.keys {
		t.Columns = append(t.Columns, part.Column{Title: k.Name})
	}
	for _, name := range names {
		row := part.Row(name)
		var seen []string
		for _, values := range byArm {
			text := cmp.Or(strings.Join(values[name], ", "), part.None)
			if text != part.None && !slices.Contains(seen, text) {
				seen = append(seen, text)
			}
			row = append(row, part.Word(text))
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
