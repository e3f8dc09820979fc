package report

import (
	"slices"

	"netdyno/internal/read/part"
)

// place is an arm in a cell, with the levels that its trials run at.
type place struct {
	cell      int // from 1
	arm, name string
	levels    map[string]string
}

// isAt tells whether the trials run at all of some levels, the compared factor's included.
func (p place) isAt(compared string, levels map[string]string) bool {
	for factor, level := range levels {
		if factor == compared && level != p.arm || factor != compared && p.levels[factor] != level {
			return false
		}
	}
	return true
}

// placesOf lists the arms of all cells.
func (l *layout) placesOf() []place {
	type key struct{ cell, arm string }
	levels := map[key]map[string]string{}
	for _, v := range l.Trials {
		levels[key{v.Plan.Cell, v.Plan.Arm}] = v.Plan.Levels
	}
	var places []place
	for i, c := range l.Cells {
		for _, a := range c.Arms {
			places = append(places, place{i + 1, a.Name, c.Name, levels[key{c.Name, a.Name}]})
		}
	}
	return places
}

// behind finds the trials of a chart's mark at some levels besides the chart's own.
func (v *chartView) behind(levels map[string]string, match func(place) bool) part.Behind {
	var b part.Behind
	for _, p := range v.places {
		if !p.isAt(v.Header.Study.Compare.Factor, v.Spec.Where) || !p.isAt(v.Header.Study.Compare.Factor, levels) ||
			len(v.Spec.Arms) > 0 && !slices.Contains(v.Spec.Arms, p.arm) || !match(p) {
			continue
		}
		if b.Cell != 0 && b.Cell != p.cell {
			return part.Behind{}
		}
		b.Cell, b.Arms = p.cell, append(b.Arms, p.arm)
	}
	return b
}

// anywhere matches every place.
func anywhere(place) bool { return true }

// withBy adds the level of the factor by which a chart's marks are parted.
func (v *chartView) withBy(levels map[string]string, name string) map[string]string {
	switch {
	case name == "":
	case v.Spec.By == "":
		levels[v.Header.Study.Compare.Factor] = name
	default:
		levels[v.Spec.By] = name
	}
	return levels
}
