package report

import (
	"cmp"
	"strings"

	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

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
	tools := part.Table{Caption: "Worker binaries.", Columns: part.Titles("binary", "version", "sha256", "libraries"), Folded: true}
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
		sum = sum[:16] + "…"
	}
	return part.Row(name, cmp.Or(b.Version, part.None), cmp.Or(sum, part.None), cmp.Or(strings.Join(libraries, ", "), part.None))
}
