package study

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// leastRace is how many blocks a race needs before it may leave arms out.
const leastRace = 2

// leastConfirm is how many blocks a verdict needs: with fewer no p reaches 0.05.
const leastConfirm = 6

// Race checks a race of at most so many blocks: see Scope.
func (c Scope) Race(r record.Race, blocks int) (key, text string) {
	m, err := metric.Named(r.Best)
	switch {
	case err != nil:
		return "best", unknown("metric", r.Best, MetricNames())
	case m.Better != metric.Higher && m.Better != metric.Lower:
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
	case r.Confirm < leastConfirm:
		return "confirm", fmt.Sprintf("%d blocks; expected at least %d, as with fewer no verdict can be reached", r.Confirm, leastConfirm)
	case blocks < r.Confirm+leastRace:
		return "confirm", fmt.Sprintf("%d blocks of %d leave fewer than %d for the race", r.Confirm, blocks, leastRace)
	case r.Trials > 0 && r.Trials < len(c.arms)+2*r.Confirm:
		return "trials", fmt.Sprintf("%d trials; expected at least %d: one of each arm, and those that confirm", r.Trials, len(c.arms)+2*r.Confirm)
	}
	for factor := range r.As {
		if !slices.Contains(c.named(), factor) {
			return "as", c.Factor(factor)
		}
	}
	return "", ""
}
