package study

import (
	"slices"
	"strings"
)

// parseCell takes a cell's name apart by the factors and levels that it may
// have.
func parseCell(name string, others []Varied) ([]Setting, bool) {
	if len(others) == 0 {
		return nil, name == ""
	}
	for _, l := range others[0].Levels {
		rest, ok := strings.CutPrefix(name, cellName([]Setting{{others[0].Factor, l}}))
		if !ok {
			continue
		}
		if len(others) > 1 {
			if rest, ok = strings.CutPrefix(rest, " "); !ok {
				continue
			}
		}
		if tail, ok := parseCell(rest, others[1:]); ok {
			return append([]Setting{{others[0].Factor, l}}, tail...), true
		}
	}
	return nil, false
}

func (s *Study) hasCell(name string) bool {
	_, ok := parseCell(name, s.others())
	return ok
}

func (s *Study) firstCell() string {
	var cell []Setting
	for _, v := range s.others() {
		cell = append(cell, Setting{v.Factor, v.Levels[0]})
	}
	return cellName(cell)
}

// keepPublished takes over those figures of the original study that still
// have their arms and their cell, under the cell's present name.
func (s *Study) keepPublished(original *Study) {
	if s.Compare.Factor != original.Compare.Factor {
		return
	}
	arms := factorOf(s.compared()).Levels
	for _, p := range original.Published {
		if !slices.Contains(arms, p.Arm) || !slices.Contains(arms, p.Base) {
			continue
		}
		if p.Cell == "" {
			s.Published = append(s.Published, p)
			continue
		}
		was, _ := parseCell(p.Cell, original.others())
		if cell, ok := s.cellNow(was, original); ok {
			p.Cell = cell
			s.Published = append(s.Published, p)
		}
	}
}

// cellNow names the cell of this study that has the levels which a cell of
// the original had, held ones included.
func (s *Study) cellNow(was []Setting, original *Study) (string, bool) {
	for _, w := range was {
		if !hasText(s.choices(nil, w.Factor), w.Level.Text) {
			return "", false
		}
	}
	var cell []Setting
	for _, v := range s.others() {
		level, ok := find(was, v.Factor)
		if !ok {
			held := original.choices(nil, v.Factor)
			if len(held) != 1 {
				return "", false
			}
			level = held[0]
		}
		if !hasText(v.Levels, level.Text) {
			return "", false
		}
		cell = append(cell, Setting{v.Factor, level})
	}
	return cellName(cell), true
}

func hasText(levels []Level, text string) bool {
	return slices.ContainsFunc(levels, func(l Level) bool { return l.Text == text })
}
