package expect

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
)

// shares gathers what an activity or a function has of arms' profiles, or by how much that
// exceeds the base's, paired by probe.
func (g *gathering) shares() []Evidence {
	var all []Evidence
	for _, of := range g.settings(g.Of, g.At, g.beside()...) {
		e := Evidence{Form: Share, What: g.Activity + " in the CPU profile of the " + g.End + " of " + g.named(of), at: []cells.Key{of}, least: leastProbes}
		own, why := profile.SharesByProbe(g.s, of, g.End, g.Activity)
		e.effects, e.Of = cells.InOrder(own), len(own)
		if len(g.Base.Arms) > 0 {
			base := cells.KeyOf(of.Cell, g.Base.Arms[0])
			if len(g.Base.At) > 0 {
				elsewhere := g.settings(g.Base, g.Base.At)
				if len(elsewhere) == 0 {
					continue
				}
				base = elsewhere[0]
			}
			other, whyNot := profile.SharesByProbe(g.s, base, g.End, g.Activity)
			e.Form, e.What, e.at, why = Points, e.What+", less that of "+g.named(base), append(e.at, base), cmp.Or(why, whyNot)
			e.effects = cells.InOrder(cells.Subtract(own, other))
		}
		for _, k := range e.at {
			e.cannotRun(g.s, k)
		}
		if why != "" {
			e.refuse(why)
		}
		all = append(all, e)
	}
	return all
}

// observation is one trial as a row of the design: 1, n, n·x₁, n·x₂, …
type observation struct {
	block int
	row   []float64
	y     float64
}

// growth fits metric = a + n·(b + Σ cᵢ·xᵢ) to the trials of each block and gathers the
// coefficients cᵢ: the block is the replicate (specification §6.1).
func (g *gathering) growth() []Evidence {
	factors := []string{g.Per}
	for _, t := range g.Terms {
		factors = append(factors, t.Factor)
	}
	with, blocks, refusal := g.observe(factors)
	all := make([]Evidence, len(g.Terms))
	for i, t := range g.Terms {
		all[i] = Evidence{Form: Coefficient, What: "coefficient of " + t.Factor + " in " + g.Metric + " per " + g.Per + with, size: t.Size, refusal: refusal, untestable: refusal != "", Of: len(blocks)}
	}
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		c, err := regress(blocks[block])
		if err != nil { // a block that lost trials may not show every coefficient
			continue
		}
		for i := range all {
			all[i].effects = append(all[i].effects, c[2+i])
		}
	}
	if len(all[0].effects) == 0 && refusal == "" {
		for i := range all {
			all[i].refuse(dependent(factors, blocks))
		}
	}
	return all
}

// observe makes the rows of the trials at the condition's levels, by block, and says with
// which implementations; refusal is why there are none.
func (g *gathering) observe(factors []string) (with string, blocks map[int][]observation, refusal string) {
	judged, why := view.Where(g.s, view.Scope{Levels: g.At}, factors...)
	var seen []*trial.Judged
	blocks = map[int][]observation{}
	for _, v := range judged {
		y, ok := v.Trial.Values.Of(g.Metric)
		if !ok || !cells.Usable(y) {
			continue
		}
		o := observation{block: v.Plan.Block, row: []float64{1}, y: y}
		levels, no := numbers(g.s, v, factors)
		if no != "" {
			return "", nil, no
		}
		for i, level := range levels {
			x := level.Value
			if i > 0 {
				x *= o.row[1]
			}
			o.row = append(o.row, x)
		}
		seen, blocks[o.block] = append(seen, v), append(blocks[o.block], o)
	}
	if why == "" && len(seen) == 0 {
		why = "no valid trial has a positive " + g.Metric
	}
	if with = view.Implementations(g.s, g.Metric, seen); with != "" {
		with = ", " + with
	}
	return with, blocks, why
}

func regress(observed []observation) ([]float64, error) {
	var rows [][]float64
	var ys []float64
	for _, o := range observed {
		rows, ys = append(rows, o.row), append(ys, o.y)
	}
	return stat.RelativeLeastSquares(rows, ys)
}

// dependent says in words which coefficient no trial can show.
func dependent(factors []string, blocks map[int][]observation) string {
	var all []observation
	for _, block := range slices.Sorted(maps.Keys(blocks)) {
		all = append(all, blocks[block]...)
	}
	_, err := regress(all)
	var column *stat.DependentError
	if errors.As(err, &column) && 0 < column.Column && column.Column <= len(factors) {
		return factors[column.Column-1] + " does not vary, or only together with others, so its coefficient cannot be seen"
	}
	return "no block has all of the levels, so no coefficient can be seen"
}

// numbers returns a trial's levels of factors as places on axes.
func numbers(s *cells.Dataset, v *trial.Judged, factors []string) (levels []view.Coordinate, why string) {
	for _, factor := range factors {
		level, _ := s.LevelOf(v, factor)
		x, ok := view.NumberOf(level)
		if !ok {
			return nil, fmt.Sprintf("%s=%s of trial %s is no number", factor, level, v.Plan.ID)
		}
		levels = append(levels, view.Coordinate{Text: level, Value: x})
	}
	return levels, ""
}

// candidate is an arm in a cell as a Least weighs it.
type candidate struct {
	cells.Key
	levels []view.Coordinate // of the condition's factors
	pool   *cells.Pool
	figure float64
	pairs  compare.Pairs // of it to the best, within blocks
}

// least gathers for each arm the smallest levels with which it comes near the best that
// any arm does, as shares of that; of an arm that comes nowhere near, its best.
func (g *gathering) least() []Evidence {
	var all []candidate
	for _, k := range g.settings(g.Of, g.At) {
		judged := slices.DeleteFunc(slices.Clone(g.s.Of(k.Cell, k.Arm)), func(v *trial.Judged) bool { return v.Trial.Status != trial.Valid })
		if len(judged) == 0 {
			continue
		}
		c := candidate{Key: k, pool: g.pool(k)}
		f, _ := c.pool.Figure() // none has no block
		levels, why := numbers(g.s, judged[0], g.Factors)
		if c.levels, c.figure = levels, f.Value; why == "" && c.pool.Count() >= leastShown {
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return nil
	}
	best := slices.MaxFunc(all, func(a, b candidate) int { return cmp.Compare(a.figure, b.figure) })
	for i := range all {
		all[i].pairs = compare.Divide(all[i].pool, best.pool)
	}
	var out []Evidence
	for _, arm := range g.s.Arms {
		own := slices.DeleteFunc(slices.Clone(all), func(c candidate) bool { return c.Arm != arm })
		for _, c := range smallest(own, g.Size) {
			var words []string
			for i, level := range c.levels {
				words = append(words, g.Factors[i]+"="+level.Text)
			}
			out = append(out, Evidence{
				What: g.arm(arm) + " with " + strings.Join(words, " "), at: []cells.Key{c.Key, best.Key}, effects: c.pairs.Effects, Of: g.s.BlocksOf(c.Cell, c.Arm),
			})
		}
	}
	return out
}

// smallest returns those that come to a share of the best and of which no other that does
// needs less of one factor and no more of any; else the one that does most, none of none.
func smallest(own []candidate, share float64) []candidate {
	if len(own) == 0 {
		return nil
	}
	near := slices.DeleteFunc(slices.Clone(own), func(c candidate) bool {
		e, ok := c.pairs.Estimate()
		return !ok || e.Point < share
	})
	if len(near) == 0 {
		return []candidate{slices.MaxFunc(own, func(a, b candidate) int { return cmp.Compare(a.figure, b.figure) })}
	}
	return slices.DeleteFunc(slices.Clone(near), func(c candidate) bool {
		return slices.ContainsFunc(near, func(other candidate) bool { return other.dominates(c) })
	})
}

// dominates tells whether a needs less of a factor than b and no more of any; of two that
// need the same the one that does more dominates the other.
func (a candidate) dominates(b candidate) bool {
	less := false
	for i := range a.levels {
		if a.levels[i].Value > b.levels[i].Value {
			return false
		}
		less = less || a.levels[i].Value < b.levels[i].Value
	}
	return less || a.figure > b.figure
}
