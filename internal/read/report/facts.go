package report

import (
	"strings"

	"netdyno/internal/record"
)

// facts are what was found on the hosts before the run, and what ran there.
func (l *layout) facts() Section {
	s := Section{ID: "facts", Title: "Facts", Note: "What was found on each host before the run.", Tables: []Table{l.hosts()}}
	for _, host := range sortedKeys(l.Header.Facts.Seats) {
		t := Table{Caption: "Host " + host + ".", Columns: columns("fact", "value"), Folded: true}
		values := l.Header.Facts.Seats[host].Values
		for _, name := range sortedKeys(values) {
			t.Rows = append(t.Rows, words(name, values[name]))
		}
		s.Tables = append(s.Tables, t)
	}
	tools := Table{Caption: "Worker binaries.", Columns: columns("binary", "version", "sha256", "libraries"), Folded: true}
	for _, name := range sortedKeys(l.Header.Facts.Tools) {
		tools.Rows = append(tools.Rows, toolRow(name, l.Header.Facts.Tools[name]))
	}
	s.Tables = append(s.Tables, tools)
	return s
}

// hosts says where each worker ran, and how far that host's clock was ahead.
func (l *layout) hosts() Table {
	t := Table{Caption: "Hosts.", Columns: columns("host", "workers", "CPUs", "address", "name", "kernel", "clock ahead by")}
	for _, seated := range l.Seating {
		facts := l.Header.Facts.Seats[seated.Seat].Values
		t.Rows = append(t.Rows, words(seated.Seat, strings.Join(seated.Workers, ", "), or(strings.Join(seated.CPUs, " or "), "any"),
			or(facts[record.AddressFact], none), or(facts["host.name"], none), or(facts["kernel.release"], none), or(facts[record.OffsetFact], none)))
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
	return words(name, or(b.Version, none), or(sum, none), or(strings.Join(libraries, ", "), none))
}
