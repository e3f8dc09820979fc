package summary

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
)

// mostLengthLines bounds the arms whose replies' lengths are told one by one.
const mostLengthLines = 2

// LengthLines says of each arm whose replies varied how long they were, a line each.
func (s *Summary) LengthLines() []string {
	var lines []string
	for _, l := range s.Varying() {
		text := upperFirst(l.Lengths.Words())
		if row := s.Row(l); row != "" && len(s.Loads) > 1 {
			text = row + ": " + l.Lengths.Words()
		}
		lines = append(lines, text)
	}
	if len(lines) > mostLengthLines {
		return []string{fmt.Sprintf("Replies of %s varied in length: see the report", quantity.Plural(len(lines), "arm"))}
	}
	return lines
}

// Varying are the loads whose replies varied in length, one of each arm: that with the
// most replies.
func (s *Summary) Varying() []Load {
	var all []Load
	place := map[string]int{}
	for _, l := range s.Loads {
		if l.Lengths == nil {
			continue
		}
		if i, known := place[l.Arm]; !known {
			place[l.Arm] = len(all)
			all = append(all, l)
		} else if l.Lengths.Replies > all[i].Lengths.Replies {
			all[i] = l
		}
	}
	return all
}

func upperFirst(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
