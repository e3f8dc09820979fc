package study

import (
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
