package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// settings are what the workers ran with, and what the study varied and held.
func (l *layout) settings() part.Section {
	held := part.Table{Caption: "Held in every trial.", Columns: part.Titles("factor", "level")}
	for _, name := range sortedKeys(l.plan.Hold) {
		held.Rows = append(held.Rows, part.Row(name, l.plan.Hold[name]))
	}
	varied := part.Table{Caption: "Varied.", Columns: part.Titles("factor", "levels")}
	for _, f := range l.plan.Vary {
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

// facts are what was found on the hosts before the run, and what ran there.
func (l *layout) facts() part.Section {
	s := part.Section{ID: "facts", Title: "Facts", Notes: []string{"What was found on each host before the run."}, Tables: []part.Table{l.hosts()}}
	for _, host := range sortedKeys(l.Header.Facts.Seats) {
		t := part.Table{Caption: "Host " + host + ".", Columns: part.Titles("fact", "value"), Folded: true}
		values := l.Header.Facts.Seats[host].Values
		for _, name := range sortedKeys(values) {
			t.Rows = append(t.Rows, part.Row(name, values[name]))
		}
		s.Tables = append(s.Tables, t)
	}
	tools := part.Table{Caption: "Worker binaries.", Columns: part.Titles("binary", "version", "sha256, first 16 digits", "libraries"), Folded: true}
	for _, name := range sortedKeys(l.Header.Facts.Tools) {
		tools.Rows = append(tools.Rows, toolRow(name, l.Header.Facts.Tools[name]))
	}
	s.Tables = append(s.Tables, tools)
	return s
}

// hosts says where each worker ran, and how far that host's clock was ahead.
func (l *layout) hosts() part.Table {
	t := part.Table{Caption: "Hosts.", Columns: part.Titles("host", "workers", "CPUs", "address", "name", "kernel", "clock ahead by")}
	for _, seated := range l.Seating {
		facts := l.Header.Facts.Seats[seated.Seat].Values
		t.Rows = append(t.Rows, part.Row(seated.Seat, strings.Join(seated.Workers, ", "), cmp.Or(strings.Join(seated.CPUs, " or "), "any"),
			cmp.Or(facts[record.AddressFact], part.None), cmp.Or(facts["host.name"], part.None), cmp.Or(facts["kernel.release"], part.None), cmp.Or(facts[record.OffsetFact], part.None)))
	}
	return t
}

func toolRow(name string, b record.Binary) []part.Datum {
	libraries := make([]string, len(b.Libraries))
	for i, lib := range b.Libraries {
		libraries[i] = strings.TrimSpace(lib.Name + " " + lib.Version)
	}
	sum := b.SHA256
	if len(sum) > 16 {
		sum = sum[:16]
	}
	return part.Row(name, cmp.Or(b.Version, part.None), cmp.Or(sum, part.None), cmp.Or(strings.Join(libraries, ", "), part.None))
}

// spreadTable has a row for each of the metrics that was calibrated.
func spreadTable(c *record.Calibration, metrics []string) part.Table {
	t := part.Table{Columns: part.Titles("metric")}
	for _, name := range metrics {
		spread, known := c.Spreads[name]
		if !known {
			continue
		}
		row := part.Row(name)
		for _, s := range spread.Smallest {
			row = append(row, part.Value(quantity.FormatShare(s.Difference), ""))
			if len(t.Rows) == 0 {
				t.Columns = append(t.Columns, part.Figures(fmt.Sprintf("%d blocks", s.Blocks))...)
			}
		}
		t.Rows = append(t.Rows, append(row, part.Value(quantity.FormatShare(spread.Absolute), ""), part.Value(quantity.FormatShare(spread.Relative), "")))
	}
	t.Columns = append(t.Columns, part.Figures("across runs", "across runs, as a ratio to the floor")...)
	return t
}
