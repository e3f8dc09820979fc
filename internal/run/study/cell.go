package study

import (
	"slices"
	"strings"
)

// parseCell takes a cell's name apart by the factors and levels that it may
// have. A cell of a sweep need not have them all.
func parseCell(name string, others []Varied) ([]Setting, bool) {
	if len(others) == 0 {
		return nil, name == ""
	}
	for _, l := range others[0].Levels {
		first := []Setting{{others[0].Factor, l}}
		rest, ok := strings.CutPrefix(name, cellName(first))
		if !ok {
			continue
		}
		if rest != "" {
			if rest, ok = strings.CutPrefix(rest, " "); !ok || rest == "" {
				continue
			}
		}
		if tail, ok := parseCell(rest, others[1:]); ok {
			return append(first, tail...), true
		}
	}
	return parseCell(name, others[1:])
}

// hasCell reports whether the study has a cell of that name.
func (s *Study) hasCell(name string) bool {
	others := s.others()
	cell, ok := parseCell(name, others)
	return ok && slices.ContainsFunc(s.designs(), func(d *Study) bool { return d.visits(cell, others) })
}

// visits reports whether a design has the cell, no factor of its name missing.
func (s *Study) visits(cell []Setting, others []Varied) bool {
	for _, v := range others {
		levels := s.levelsIn(v.Factor)
		if l, named := find(cell, v.Factor); named != (len(levels) > 0) || named && !hasText(levels, l.Text) {
			return false
		}
	}
	return true
}

// firstCell is a cell's name, for errors.
func (s *Study) firstCell() string {
	d := s.designs()[0]
	var cell []Setting
	for _, v := range d.crossed() {
		cell = append(cell, Setting{v.Factor, v.Levels[0]})
	}
	return d.naming(s.others())(cell)
}

func hasText(levels []Level, text string) bool {
	return slices.ContainsFunc(levels, func(l Level) bool { return l.Text == text })
}
