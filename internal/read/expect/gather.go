package expect

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"

	"netdyno/internal/condition"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
)

// rules say how the evidence of each form is gathered: none where no cell is what the
// condition is about.
var rules = map[condition.Form]func(*gathering) []Evidence{
	condition.Figure:  (*gathering).figures,
	condition.Profile: (*gathering).shares,
	condition.Spread:  (*gathering).spread,
	condition.Growth:  (*gathering).growth,
	condition.Least:   (*gathering).least,
}

// gathering is one condition on its way to its evidence.
type gathering struct {
	condition.Condition
	s      *cells.Dataset
	under  map[string]string // conditions that cells must meet
	judged compare.Levels
	unmet  []cells.Unmet // of under, what the nearest cells miss
}

// figures gathers arms' figures, or their ratios to a base.
func (g *gathering) figures() []Evidence {
	if len(g.Against) > 0 {
		return g.interactions()
	}
	var all []Evidence
	for _, of := range g.settings(g.Of, g.At, g.beside()...) {
		switch {
		case len(g.Base.Arms) == 0:
			all = append(all, g.figure(of))
		case g.Base.Arms[0] == condition.TheLink:
			all = append(all, g.ofTheLink(of))
		case g.Base.Best:
			if base, ok := g.best(); ok {
				all = append(all, g.ratio(of, base))
			}
		case len(g.Base.At) > 0:
			for _, base := range g.settings(g.Base, g.Base.At) {
				all = append(all, g.ratio(of, base))
			}
		default:
			all = append(all, g.ratio(of, cells.KeyOf(of.Cell, g.Base.Arms[0])))
		}
	}
	return all
}

// beside names the base that must run in the same cell; none where another cell, the link
// or nothing is the base.
func (g *gathering) beside() []string {
	if g.Base.Best || len(g.Base.At) > 0 || slices.Contains(g.Base.Arms, condition.TheLink) {
		return nil
	}
	return g.Base.Arms
}

// settings returns where the arms of a side ran: those of a best(…), or all of the study
// where none is named, wherever one did; others in the cells that have all of them.
func (g *gathering) settings(side condition.Side, at map[string]string, beside ...string) []cells.Key {
	together := [][]string{side.Arms}
	if len(side.Arms) == 0 || side.Best {
		together = nil
		for _, arm := range g.s.Arms {
			if len(side.Arms) == 0 || slices.Contains(side.Arms, arm) {
				together = append(together, []string{arm})
			}
		}
	}
	var all []cells.Key
	for _, arms := range together {
		for _, cell := range g.meeting(at, slices.Concat(arms, beside)) {
			for _, arm := range arms {
				all = append(all, cells.KeyOf(cell, arm))
			}
		}
	}
	if able := slices.DeleteFunc(slices.Clone(all), func(k cells.Key) bool { return compare.CannotRun(g.s, k.Cell, k.Arm) != "" }); side.Best && len(able) > 0 {
		return able
	}
	return all
}

// meeting returns the cells at the given levels that have all of the arms and meet the
// conditions of the statement. An arm that cannot run meets what its levels say: why it
// cannot is more to the point.
func (g *gathering) meeting(at map[string]string, arms []string) (columns []string) {
	for _, cell := range g.s.CellsWith(at, arms) {
		able := slices.DeleteFunc(slices.Clone(arms), func(arm string) bool { return compare.CannotRun(g.s, cell, arm) != "" })
		if differs := g.s.Unmet(g.under, cell, able...); len(differs) > 0 && len(able) > 0 {
			g.unmet = cells.Nearer(g.unmet, differs)
			continue
		}
		columns = append(columns, cell)
	}
	return columns
}

// pool gathers the figures of the condition's metric; of both ends together, their sums.
func (g *gathering) pool(k cells.Key) *cells.Pool {
	name, both := strings.CutPrefix(g.Metric, condition.BothEnds)
	if !both {
		return cells.PoolOf(g.s.TrialsOf(k.Cell, k.Arm), name)
	}
	p := &cells.Pool{}
	for t := range g.s.TrialsOf(k.Cell, k.Arm) {
		if sum, known := cells.OfBothEnds(t, name); known && t.Status == trial.Valid {
			p.Add(t.Block, sum)
		}
	}
	return p
}

// registered is the condition's metric; of both ends, the server's.
func (g *gathering) registered() metric.Metric {
	return metric.Shown(strings.Replace(g.Metric, condition.BothEnds, metric.OfServer, 1))
}

// best returns the arm and cell of the right side that has the best figure, of those with
// an interval; false where none has one.
func (g *gathering) best() (best cells.Key, found bool) {
	at, most := g.Base.At, math.Inf(-1)
	if len(at) == 0 {
		at = g.At
	}
	for _, k := range g.settings(g.Base, at) {
		p := g.pool(k)
		f, ok := p.Figure()
		if g.registered().Better == metric.Lower {
			f.Value = -f.Value
		}
		if ok && p.Count() > 1 && f.Value > most {
			best, most, found = k, f.Value, true
		}
	}
	return best, found
}

// ratio divides an arm by a base. In one cell it is what a comparison of the two is.
func (g *gathering) ratio(of, base cells.Key) Evidence {
	e := Evidence{What: g.named(of) + " ÷ " + g.named(base), at: []cells.Key{of, base}}
	if of.Cell == base.Cell && !strings.HasPrefix(g.Metric, condition.BothEnds) {
		e.What = g.arm(of.Arm) + " ÷ " + g.arm(base.Arm) + g.s.Names.At(of.Cell)
		b := compare.Prepare(g.s, of.Cell, g.registered(), of.Arm, base.Arm)
		e.effects, e.effect, e.refusal, e.Of = b.Pairs.Effects, b.Effect, b.Refusal, b.Of
		e.judged = g.judged.Of(of.Cell, g.Metric, of.Arm, base.Arm)
		e.notHere(g.s, b)
		return e
	}
	pairs := compare.Divide(g.pool(of), g.pool(base))
	e.effects, e.Of = pairs.Effects, min(g.s.BlocksOf(of.Cell, of.Arm), g.s.BlocksOf(base.Cell, base.Arm))
	estimate, _ := pairs.Estimate() // nothing in it is beyond any waiting where there is none
	g.besideOthers(&e, of, base, estimate)
	return e
}

// figure is an arm's own.
func (g *gathering) figure(of cells.Key) Evidence {
	e := Evidence{What: g.named(of), Form: Figure, at: []cells.Key{of}, Of: g.s.BlocksOf(of.Cell, of.Arm), effects: g.pool(of).Logs()}
	g.besideOthers(&e, of, of, stat.Estimate{Low: 1, High: 1})
	return e
}

// ofTheLink is an arm's goodput divided by the rate that its link is declared to have.
func (g *gathering) ofTheLink(of cells.Key) Evidence {
	e := Evidence{What: g.arm(of.Arm) + " ÷ the link" + g.s.Names.At(of.Cell), at: []cells.Key{of}, Of: g.s.BlocksOf(of.Cell, of.Arm)}
	link := g.s.LinkPool(g.s.Of(of.Cell, of.Arm))
	if link.Count() == 0 {
		e.refuse("no link of a known rate lies between the two ends")
		return e
	}
	e.effects = compare.Divide(g.pool(of), link).Effects
	g.besideOthers(&e, of, of, stat.Estimate{Low: 1, High: 1})
	return e
}

// interactions divide an arm's ratio in one cell by its ratio in another, block by block.
func (g *gathering) interactions() []Evidence {
	arms := slices.Concat(g.Of.Arms, g.Base.Arms)
	there := g.meeting(g.Against, arms)
	var all []Evidence
	for _, cell := range g.meeting(g.At, arms) {
		for _, other := range there {
			if cell == other || !maps.Equal(g.rest(cell), g.rest(other)) {
				continue
			}
			for _, arm := range g.Of.Arms {
				a, b := compare.Prepare(g.s, cell, g.registered(), arm, g.Base.Arms[0]), compare.Prepare(g.s, other, g.registered(), arm, g.Base.Arms[0])
				e := Evidence{
					What: g.arm(arm) + " ÷ " + g.arm(g.Base.Arms[0]) + g.s.Names.At(cell) + " ÷ the same" + g.s.Names.At(other),
					at:   []cells.Key{cells.KeyOf(cell, arm), cells.KeyOf(other, arm), cells.KeyOf(cell, g.Base.Arms[0]), cells.KeyOf(other, g.Base.Arms[0])},
				}
				e.refusal, e.Of = cmp.Or(a.Refusal, b.Refusal), min(a.Of, b.Of)
				e.effects = cells.InOrder(cells.Subtract(a.Pairs.ByBlock(), b.Pairs.ByBlock()))
				e.notHere(g.s, a)
				e.notHere(g.s, b)
				all = append(all, e)
			}
		}
	}
	return all
}

// ends are the factors that say when a trial ends and when it counts: whoever compares
// trials by one of them compares them by all.
var ends = []string{"amount", "window", "warmup", "warmup_max"}

// rest returns the varied levels of a cell of which Against says nothing.
func (g *gathering) rest(cell string) map[string]string {
	levels, endless := map[string]string{}, false
	for _, end := range ends {
		endless = endless || g.Against[end] != ""
	}
	for _, f := range g.s.Vary {
		_, against := g.Against[f.Name]
		level, ok := g.s.Of(cell, g.Base.Arms[0])[0].Plan.Levels[f.Name]
		if ok && !against && f.Name != g.s.Compare.Factor && !(endless && slices.Contains(ends, f.Name)) {
			levels[f.Name] = level
		}
	}
	return levels
}

// spread compares, block by block, how far the arms' ratios to a base scatter from cell to
// cell with how far those of the other side do.
func (g *gathering) spread() []Evidence {
	base, than := g.Base.Arms[0], g.Base.Arms[1:]
	columns := g.meeting(g.At, slices.Concat(g.Of.Arms, g.Base.Arms))
	if len(columns) < 2 {
		return nil
	}
	e := Evidence{What: "how " + g.arms(g.Of.Arms) + " ÷ " + g.arm(base) + " vary from cell to cell ÷ how " + g.arms(than) + " do"}
	scatter := func(arms []string) map[int]float64 {
		perBlock := map[int][]float64{} // variances, one for each arm
		for _, arm := range arms {
			logs := map[int][]float64{}
			for _, cell := range columns {
				b := compare.Prepare(g.s, cell, g.registered(), arm, base)
				e.refusal, e.Of, e.at = cmp.Or(b.Refusal, e.refusal), max(e.Of, b.Of), append(e.at, cells.KeyOf(cell, arm))
				for i, block := range b.Pairs.Blocks {
					logs[block] = append(logs[block], b.Pairs.Effects[i])
				}
				e.notHere(g.s, b)
			}
			for block, ratios := range logs {
				if sd := stat.SD(ratios); len(ratios) == len(columns) && sd > 0 {
					perBlock[block] = append(perBlock[block], sd*sd)
				}
			}
		}
		all := map[int]float64{}
		for block, variances := range perBlock {
			if len(variances) == len(arms) {
				all[block] = math.Log(stat.Mean(variances)) / 2
			}
		}
		return all
	}
	e.effects = cells.InOrder(cells.Subtract(scatter(g.Of.Arms), scatter(than)))
	return []Evidence{e}
}

// besideOthers refuses what other processes on the CPUs may have turned round, and what
// cannot run.
func (g *gathering) besideOthers(e *Evidence, of, base cells.Key, ratio stat.Estimate) {
	beside := func(k cells.Key) compare.Beside {
		limit, _ := cells.LimitOf(g.s.Of(k.Cell, k.Arm))
		return compare.BesideOf(k.Arm, g.s.TrialsOf(k.Cell, k.Arm), limit)
	}
	c := compare.Comparison{Metric: g.registered().Name, Arm: of.Arm, Base: base.Arm, Low: ratio.Low, High: ratio.High}
	if reason := compare.RefuseBeside(&c, beside(of), beside(base)); reason != "" {
		e.refuse(reason)
	}
	e.cannotRun(g.s, of)
	e.cannotRun(g.s, base)
}

// notHere marks evidence that no more blocks can give: an arm of its ratio cannot run, or
// other processes used the CPUs beside it.
func (e *Evidence) notHere(s *cells.Dataset, b *compare.Pending) {
	if reason := compare.RefuseBesideOthers(s, b); reason != "" {
		e.refuse(reason)
	}
	e.cannotRun(s, cells.KeyOf(b.Cell, b.Arm))
	e.cannotRun(s, cells.KeyOf(b.Cell, b.Base))
}

func (e *Evidence) cannotRun(s *cells.Dataset, k cells.Key) {
	if reason := compare.CannotRun(s, k.Cell, k.Arm); reason != "" {
		e.refuse(compare.CannotRunWords(k.Arm, reason))
	}
}

// refuse says why more blocks would not help.
func (e *Evidence) refuse(reason string) { e.untestable, e.refusal = true, reason }
