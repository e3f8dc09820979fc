package study

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// fewestBlocks is the least number that can be judged: with it a two-sided sign-flip
// p, 2/2ⁿ, can fall below 0.05 (specification §6.3).
const fewestBlocks = 6

// warnings names what the plan cannot tell, before it is run.
func (s *Study) warnings() []record.Warning {
	var out []record.Warning
	if s.Mesh {
		return s.warnMesh()
	}
	if s.Blocks < fewestBlocks && s.Settle == 0 {
		out = append(out, record.Warning{
			About:  "blocks",
			Text:   fmt.Sprintf("with %s p cannot fall below %.3g, so no comparison can be better or worse", quantity.Plural(s.Blocks, "block"), 2/float64(int(1)<<s.Blocks)),
			Advice: fmt.Sprintf("run at least %d blocks", fewestBlocks),
		})
	}
	if s.Settle == 0 && s.SettleS == 0 { // a time ends a run after any of them
		out = append(out, s.warnLooks()...)
	}
	out = append(out, s.warnKept()...)
	if s.fitted != "" {
		out = append(out, record.Warning{About: "time", Text: s.fitted, Advice: "run it without --time, in a directory of its own, for all of it"})
	}
	out = append(out, s.warnThin()...)
	out = append(out, s.aliasedCells()...)
	out = append(out, s.warnLadders()...)
	return append(out, s.warnArms()...)
}

// warnArms warns of arms that differ in several things at once, as they are in each part of
// the study, and once of what several parts share.
func (s *Study) warnArms() []record.Warning {
	compared := s.Compare.Factor == ArmFactor
	together := [][]Arm{s.Arms}
	if s.sweepsGiveArms() {
		together = each.Of(s.designs(), func(d *design) []Arm { return d.arms })
	}
	var out []record.Warning
	for _, arms := range together {
		var found []record.Warning
		if compared {
			found = confoundedArms(arms, s.Compare.Baseline)
		}
		if len(arms) > 2 || len(arms) == 2 && !compared { // two arms that are compared: already said above
			found = append(found, aliasedFactors(arms)...)
		}
		for _, w := range found {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// warnLooks names looks after which no run can stop.
func (s *Study) warnLooks() []record.Warning {
	var out []record.Warning
	looks := s.looks()
	for _, n := range looks {
		if n < fewestBlocks && n < looks[len(looks)-1] {
			out = append(out, record.Warning{
				About:  "stages",
				Text:   fmt.Sprintf("no run can stop after the look of %d blocks, as p cannot fall below %.3g with them", n, 2/float64(int(1)<<n)),
				Advice: fmt.Sprintf("begin with at least %d blocks", fewestBlocks),
			})
		}
	}
	return out
}

// aliasedCells warns of factors that change only together over the cells: a difference
// between two such cells cannot be laid to one of the factors. Sweeps that each hold
// several factors at their own levels make such cells, as connections=1 with size=1KiB
// and connections=100 with size=1MiB; a factorial design has none.
func (s *Study) aliasedCells() []record.Warning {
	if !slices.ContainsFunc(s.Sweeps, func(w Sweep) bool { return len(w.Arms) == 0 }) {
		return nil // none, or each is another work by other programs, which nobody compares
	}
	var cells []map[string]string
	seen := map[string]bool{}
	for _, t := range s.pairs() {
		if !seen[t.Cell] {
			seen[t.Cell] = true
			cells = append(cells, t.Levels)
		}
	}
	groups := map[string][]string{}
	for _, v := range s.others() {
		if lacked(cells, v.Factor) || strings.HasPrefix(v.Factor, OptionPrefix) {
			continue // part of another factor's level, in whose cells alone it is
		}
		if p := pattern(cells, v.Factor); p != "" {
			groups[p] = append(groups[p], v.Factor)
		}
	}
	return together(groups, "over the sweeps", "compare arms within a cell, which this does not touch; to compare cells, add a sweep that crosses them")
}

// lacked reports whether some cell has no level of a factor.
func lacked(cells []map[string]string, factor string) bool {
	return slices.ContainsFunc(cells, func(levels map[string]string) bool {
		_, has := levels[factor]
		return !has
	})
}

// warnThin names metrics that will not exist because their trials have fewer
// exchanges than they need: as many as a rate offers in a window, or as a fixed
// amount of work has. How many a closed loop gets to do is not known here.
func (s *Study) warnThin() []record.Warning {
	asked := slices.DeleteFunc(metric.All(), func(m metric.Metric) bool {
		required := slices.ContainsFunc(s.Requires, func(r record.Require) bool { return r.Metric == m.Name })
		return m.Least == 0 || !required && !slices.Contains(s.Compare.Primary, m.Name)
	})
	if len(asked) == 0 {
		return nil
	}
	fewest, known := s.fewestExchanges()
	var out []record.Warning
	for _, m := range asked {
		if known && fewest < float64(m.Least) {
			out = append(out, record.Warning{
				About:  "thin",
				Text:   fmt.Sprintf("%s needs %d exchanges in a trial, and there are trials of %.0f", m.Name, m.Least, fewest),
				Advice: "lengthen the window, or compare a percentile nearer to the middle",
			})
		}
	}
	return out
}

// fewestExchanges returns how many a trial of the plan is offered at the least;
// false when none says.
func (s *Study) fewestExchanges() (fewest float64, known bool) {
	type load struct{ rate, window, amount, connections, active string }
	seen := map[load]bool{}
	for _, t := range s.pairs() {
		l := load{t.Levels["rate"], t.Levels["window"], t.Levels["amount"], t.Levels["connections"], t.Levels["active"]}
		if seen[l] {
			continue
		}
		seen[l] = true
		w, err := Decode(t.Levels)
		if err != nil || w.RateShare > 0 {
			continue // no trial will come of it, as the bench says, or its rate is not known yet
		}
		n := w.Load.Rate * w.Window.Seconds()
		if w.Load.Amount > 0 {
			n = float64(w.Load.Amount) * max(1, w.Load.ActiveShare*float64(w.Load.Connections))
		}
		if n > 0 && (!known || n < fewest) {
			fewest, known = n, true
		}
	}
	return fewest, known
}
