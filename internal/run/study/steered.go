package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// Bounds of the blocks that a search for a capacity may take, where none are given.
const (
	leastSearchBlocks = 10
	mostSearchBlocks  = 300
)

// checkCapacity refuses what contradicts a search for the highest rate: each trial gets
// its own.
func (s *Study) checkCapacity(designs []*design) error {
	for _, factor := range []string{"rate", "amount", "think"} {
		for _, d := range designs {
			for _, arm := range d.armsOrNone() {
				for _, l := range d.choices(arm, factor) {
					if explicit(l) && (factor == "rate" || positive(l)) {
						return Errorf(l.At, "%s=%s contradicts capacity, which looks for the highest rate in windows of an open loop; leave %s out", factor, l.Text, factor)
					}
				}
			}
		}
	}
	s.Compare.Primary = nil
	for _, b := range s.Capacity.Objective {
		s.Compare.Primary = append(s.Compare.Primary, b.Metric)
	}
	return nil
}

// SearchBlocks returns how many blocks a search for a capacity may take: as many as its
// time has windows.
func (s *Study) SearchBlocks() int {
	trial := 0.0
	for _, factor := range []string{"window", "warmup"} {
		shortest := math.Inf(1)
		for _, l := range allLevels(s.designs(), factor) {
			shortest = min(shortest, l.Value/1e9)
		}
		trial += shortest
	}
	return max(leastSearchBlocks, min(mostSearchBlocks, 1+int(s.Capacity.TimeS/max(trial, 0.1))))
}

// leastRace is how many blocks a race needs before it may leave arms out.
const leastRace = 2

// Race checks a race of at most so many blocks: see Scope.
func (c Scope) Race(r record.Race, blocks int) (key, text string) {
	m, err := metric.Named(r.Best)
	switch {
	case err != nil || m.Better != metric.Higher && m.Better != metric.Lower:
		return "best", "neither more nor less of " + r.Best + " is better; expected a metric such as " + HighMetrics()
	}
	cells := 0
	for _, d := range c.designs {
		d.eachCell(func([]Setting) { cells++ })
	}
	switch {
	case strings.HasPrefix(m.Name, ResponsePrefix) && !c.Open():
		return "best", fmt.Sprintf("without a rate no exchange has a due time, so there is no %s; expected %s, or a rate", r.Best, servicePrefix+strings.TrimPrefix(r.Best, ResponsePrefix))
	case len(c.arms) < 2:
		return "best", "one arm cannot race; expected two or more"
	case cells != 1:
		return "best", fmt.Sprintf("the study has %d cells; expected one, as a race chooses one setting for one load", cells)
	case blocks < r.Confirm+leastRace:
		return "best", fmt.Sprintf("%d blocks that confirm of %d leave fewer than %d for the race", r.Confirm, blocks, leastRace)
	}
	if i := slices.IndexFunc(r.Within, func(b record.Bound) bool { return !(b.Value > 0) }); i >= 0 {
		return "within", fmt.Sprintf("the bound of %q is not above 0, where every figure lies", r.Within[i].Text)
	}
	return "", ""
}
