package finding

import (
	"fmt"
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/history"
	"netdyno/internal/record"
)

// warnHosts tells in which facts the seats differ from each other, and which
// of them changed while the run went on.
func warnHosts(s *cells.Dataset, _ Findings) []record.Warning {
	facts := s.Header.Facts
	seats := sortedNames(facts.Seats)
	var all []record.Warning
	for _, seat := range seats[min(1, len(seats)):] {
		first := seats[0]
		if differences := record.DiffHosts(facts.Seats[first], facts.Seats[seat]); len(differences) > 0 {
			all = append(all, record.Warning{
				About: "hosts", Text: fmt.Sprintf("%s and %s differ: %s", first, seat, history.FirstOf(differences)),
				Advice: "for a result about software alone, use identical hosts",
			})
		}
	}
	for _, seat := range seats {
		after, known := facts.After[seat]
		if !known {
			continue
		}
		if differences := record.DiffHosts(facts.Seats[seat], after); len(differences) > 0 {
			all = append(all, record.Warning{
				About: "facts", Text: fmt.Sprintf("%s changed during the run: %s", seat, history.FirstOf(differences)),
				Advice: "find out who changed it, and run again",
			})
		}
	}
	return all
}

func sortedNames(hosts map[string]record.Host) []string {
	names := make([]string, 0, len(hosts))
	for name := range hosts {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}
