package report

import (
	"slices"

	"netdyno/internal/read/part"
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
