package study

import (
	"fmt"
	"slices"

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
	out = append(out, s.warnKept()...)
	out = append(out, s.warnThin()...)
	return append(out, s.warnArms()...)
}

// warnArms warns of arms that differ in several things at once, as they are in each part of
// the study, and once of what several parts share.
func (s *Study) warnArms() (out []record.Warning) {
	if s.Compare.Factor != ArmFactor {
		return nil
	}
	together := [][]Arm{s.Arms}
	if s.sweepsGiveArms() {
		together = each.Of(s.designs(), func(d *design) []Arm { return d.arms })
	}
	for _, arms := range together {
		for _, w := range confoundedArms(arms, s.Compare.Baseline) {
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out
}

// warnThin names metrics that will not exist because all trials of an arm together, or of
// a slowdown each of them, have fewer exchanges than they need: as many as a rate offers in a window, or as a fixed
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
		has, where := fewest, "a trial"
		if m.Kind != "" {
			has, where = fewest*float64(s.Blocks), "all blocks"
		}
		if known && has < float64(m.Least) {
			out = append(out, record.Warning{
				About:  "thin",
				Text:   fmt.Sprintf("%s needs %d exchanges in %s, and some arms have %.0f", m.Name, m.Least, where, has),
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
