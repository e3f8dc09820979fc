package report

import (
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
	"netdyno/internal/read/view"
)

// A chart of more than this could not be read; findings.json has every point.
const (
	maxChartLines  = 24
	maxChartPoints = 64
	maxTiles       = 40 // along each axis
)

// logSpan is how far values must lie apart for a logarithmic axis.
const logSpan = 30

// levels are the distinct levels of a factor, rising; words keep the order in
// which they came, at equal distances.
type levels struct {
	all     []view.Coordinate
	numbers bool
	more    int // that the bound left out
}

func newLevels(all []view.Coordinate, most int) levels {
	l := levels{numbers: true}
	for _, c := range all {
		if slices.ContainsFunc(l.all, func(known view.Coordinate) bool { return known.Text == c.Text }) {
			continue
		}
		// Words have no value; two levels at one place would hide one another.
		l.numbers = l.numbers && part.Finite(c.Value) && c.Value >= 0 &&
			!slices.ContainsFunc(l.all, func(known view.Coordinate) bool { return known.Value == c.Value })
		l.all = append(l.all, c)
	}
	if l.numbers {
		slices.SortStableFunc(l.all, func(a, b view.Coordinate) int {
			switch {
			case a.Value < b.Value:
				return -1
			case a.Value > b.Value:
				return 1
			}
			return strings.Compare(a.Text, b.Text)
		})
	}
	if l.more = len(l.all) - most; l.more > 0 {
		l.all = l.all[:most]
	}
	return l
}

func (l levels) place(c view.Coordinate) (float64, bool) {
	i := slices.IndexFunc(l.all, func(known view.Coordinate) bool { return known.Text == c.Text })
	switch {
	case i < 0:
		return 0, false
	case l.numbers:
		return l.all[i].Value, true
	}
	return float64(i + 1), true
}

func (l levels) ticks() []part.Tick {
	ticks := make([]part.Tick, 0, len(l.all))
	for _, c := range l.all {
		at, _ := l.place(c)
		ticks = append(ticks, part.Tick{At: at, Text: c.Text})
	}
	return ticks
}

// positive lists the places that a log axis can take; none when the levels
// are words.
func (l levels) positive() []float64 {
	var places []float64
	for _, c := range l.all {
		if l.numbers && c.Value > 0 {
			places = append(places, c.Value)
		}
	}
	return places
}

// texts are levels as they are printed.
func texts(levels []view.Coordinate) []string {
	list := make([]string, len(levels))
	for i, c := range levels {
		list[i] = c.Text
	}
	return list
}

// sound makes a figure drawable: its interval holds its value. False for what
// no axis can take.
func sound(f cells.Figure) (cells.Figure, bool) {
	if !part.Finite(f.Value) || f.Value < 0 {
		return f, false
	}
	if !part.Finite(f.Low) || f.Low > f.Value || f.Low < 0 {
		f.Low = f.Value
	}
	if !part.Finite(f.High) || f.High < f.Value {
		f.High = f.Value
	}
	return f, true
}

// spans tells whether values lie so far apart, and all above zero, that a
// logarithmic scale shows them better.
func spans(values []float64, by float64) bool {
	least, most := 0.0, 0.0
	for i, value := range values {
		if i == 0 || value < least {
			least = value
		}
		most = max(most, value)
	}
	return least > 0 && most > by*least
}

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
		if !p.isAt(v.plan.Compare.Factor, v.Spec.Where) || !p.isAt(v.plan.Compare.Factor, levels) ||
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
		levels[v.plan.Compare.Factor] = name
	default:
		levels[v.Spec.By] = name
	}
	return levels
}
