package study

import (
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/each"
)

// cellName prints a cell as it would be typed: "connections=50 response=4MiB".
func cellName(cell []Setting) string {
	parts := each.Of(cell, func(c Setting) string { return c.Factor + "=" + cellText(c.Level.Text) })
	return strings.Join(parts, " ")
}

func cellText(level string) string {
	if strings.ContainsAny(level, " \"\\") {
		return strconv.Quote(level)
	}
	return level
}

// naming returns how a design names its cells: by the study's factors that
// name cells, of which the design itself varies some, holds some and lacks
// others.
func (d *design) naming(others []Varied) func(cell []Setting) string {
	held := map[string][]Level{}
	for _, v := range others {
		if FindVaried(d.vary, v.Factor) == nil {
			held[v.Factor] = d.levelsIn(v.Factor)
		}
	}
	return func(cell []Setting) string {
		named := make([]Setting, 0, len(others))
		for _, v := range others {
			if l, ok := Find(cell, v.Factor); ok {
				named = append(named, Setting{Factor: v.Factor, Level: l})
			} else if levels := held[v.Factor]; len(levels) == 1 {
				named = append(named, Setting{Factor: v.Factor, Level: levels[0]})
			}
		}
		return cellName(named)
	}
}

// Cell returns the levels that a cell's name stands for; false when the study
// has no such cell.
func (s *Study) Cell(name string) ([]Setting, bool) {
	others := s.others()
	cell, ok := parseCell(name, others)
	return cell, ok && slices.ContainsFunc(s.designs(), func(d *design) bool { return d.visits(cell, others) })
}

// parseCell takes a cell's name apart by the factors and levels that it may
// have. A cell of a sweep need not have them all.
func parseCell(name string, others []Varied) ([]Setting, bool) {
	if len(others) == 0 {
		return nil, name == ""
	}
	for _, l := range others[0].Levels {
		first := []Setting{{Factor: others[0].Factor, Level: l}}
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

// visits reports whether a design has the cell, no factor of its name missing.
func (d *design) visits(cell []Setting, others []Varied) bool {
	for _, v := range others {
		levels := d.levelsIn(v.Factor)
		if l, named := Find(cell, v.Factor); named != (len(levels) > 0) || named && !hasText(levels, l.Text) {
			return false
		}
	}
	return true
}

// FirstCell returns the name of a cell, as an example for errors.
func (s *Study) FirstCell() string {
	d := s.designs()[0]
	cell := each.Of(d.crossed(), func(v Varied) Setting { return Setting{Factor: v.Factor, Level: v.Levels[0]} })
	return d.naming(s.others())(cell)
}
