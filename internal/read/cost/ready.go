package cost

import (
	"fmt"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// Unready says, before anything is measured, which models a plan could never give, and
// why: too few cells or blocks, coefficients that no cell can show apart, fewer cells
// held back than it takes to say how far a model is off. Nil when none.
func Unready(study record.Study, trials []record.Trial) ([]string, error) {
	s, err := cells.Read(record.Header{Schema: record.Schema, Study: study}, trials, nil)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, spec := range study.Costs {
		c := Cost{Spec: spec}
		groups, why := c.groups(s)
		if why != "" {
			all = append(all, spec.Metric+": "+why)
		}
		for _, g := range groups {
			if why := g.unready(spec); why != "" {
				all = append(all, fmt.Sprintf("%s of %s: %s", spec.Metric, strings.TrimSpace(g.arm+" "+g.at), why))
			}
		}
	}
	return all, nil
}

// unready says why a model could not be had of the planned points, all of them measured.
func (g group) unready(spec record.Cost) string {
	m := Model{per: spec.Per}
	var seen []point
	held, blocks := map[string]bool{}, map[int]bool{}
	for _, p := range g.points {
		p.y = 1
		blocks[p.block] = true
		if !p.held {
			seen = append(seen, p)
		}
	}
	if len(seen) == 0 {
		return "every cell would be held back, and none fitted"
	}
	m.Ranges = rangesOf(seen)
	for _, p := range g.points {
		if p.held && m.reaches(p.x) {
			held[p.view.Plan.Cell] = true
		}
	}
	columns := m.straight(spec, seen)
	_, _, err := m.regress(columns, seen)
	switch {
	case err != nil:
		return dependence(columns, err)
	case len(blocks) < leastBlocks:
		return fmt.Sprintf("it has %s; at least %d are needed for an interval", quantity.Plural(len(blocks), "block"), leastBlocks)
	case len(held) < leastHeldOut:
		return tooFewHeld(len(held))
	}
	return ""
}

// tooFewHeld says that a model is held to too few cells.
func tooFewHeld(n int) string {
	return fmt.Sprintf("it can be held to %s that it has not seen; at least %d are needed to say how far it is off", quantity.Plural(n, "cell"), leastHeldOut)
}
