package claim

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// evidenceOf gathers what a part of a claim demands, from the cells that meet the
// claim's conditions. Without any it returns those that the nearest cells miss.
func evidenceOf(s *cells.Dataset, under map[string]string, part int, p record.ClaimPart) ([]Evidence, []cells.Unmet) {
	m, err := metric.Named(p.Metric)
	if err != nil {
		return nil, nil
	}
	arms := append(slices.Concat(p.Arms, p.Than), p.Base)
	columns, unmet := meeting(s, under, p.Where, arms)
	switch {
	case p.Is == record.Steadier:
		return steadiness(s, part, p, m, columns), unmet
	case len(p.From) > 0:
		from, unmetThere := meeting(s, under, p.From, arms)
		return interactions(s, part, p, m, pairedCells(s, p, columns, from)), append(unmet, unmetThere...)
	}
	var all []Evidence
	for _, cell := range columns {
		for _, arm := range p.Arms {
			e := Evidence{Part: part, cells: []string{cell}, arm: arm}
			e.compares(s.Header.Study, func(say words) string { return say.arm(arm) + " ÷ " + say.arm(p.Base) + say.at(cell) })
			b := compare.Prepare(s, cell, m, arm, p.Base)
			e.effects, e.refusal, e.Of = b.Pairs.Effects, b.Refusal, b.Of
			e.notHere(s, b)
			all = append(all, e)
		}
	}
	return all, unmet
}

// meeting returns the cells at the given levels that have all of the arms and meet
// the conditions of a claim. An arm that cannot run meets what its levels say: why
// it cannot is more to the point.
func meeting(s *cells.Dataset, under, where map[string]string, arms []string) (columns []string, unmet []cells.Unmet) {
	for _, cell := range s.CellsWith(where, arms) {
		able := slices.DeleteFunc(slices.Clone(arms), func(arm string) bool { return compare.CannotRun(s, cell, arm) != "" })
		if differs := s.Unmet(under, cell, able...); len(differs) > 0 && len(able) > 0 {
			unmet = cells.Nearer(unmet, differs)
			continue
		}
		columns = append(columns, cell)
	}
	if len(columns) > 0 {
		return columns, nil
	}
	return nil, unmet
}

// notHere marks evidence that no more blocks can give: an arm of its ratio cannot run, or
// other processes used the CPUs beside it.
func (e *Evidence) notHere(s *cells.Dataset, b *compare.Pending) {
	if reason := compare.RefuseBesideOthers(s, b); reason != "" {
		e.Untestable, e.refusal = true, reason
	}
	for _, arm := range []string{b.Arm, b.Base} {
		if reason := compare.CannotRun(s, b.Cell, arm); reason != "" {
			e.Untestable, e.refusal = true, compare.CannotRunWords(arm, reason)
		}
	}
}

// pairedCells pairs each cell with the one at the levels of From that agrees with
// it in every factor of which From says nothing.
func pairedCells(s *cells.Dataset, p record.ClaimPart, columns, from []string) [][2]string {
	rest := func(cell string) map[string]string {
		levels := map[string]string{}
		for _, f := range s.Header.Study.Vary {
			if level, ok := s.Of(cell, p.Base)[0].Plan.Levels[f.Name]; ok && f.Name != s.Header.Study.Compare.Factor {
				levels[f.Name] = level
			}
		}
		for factor := range p.From {
			delete(levels, factor)
		}
		return levels
	}
	var pairs [][2]string
	for _, cell := range columns {
		for _, other := range from {
			if cell != other && maps.Equal(rest(cell), rest(other)) {
				pairs = append(pairs, [2]string{cell, other})
			}
		}
	}
	return pairs
}

// interactions divide an arm's ratio in one cell by its ratio in another, block by
// block.
func interactions(s *cells.Dataset, part int, p record.ClaimPart, m metric.Metric, pairs [][2]string) []Evidence {
	var all []Evidence
	for _, pair := range pairs {
		for _, arm := range p.Arms {
			here, there := compare.Prepare(s, pair[0], m, arm, p.Base), compare.Prepare(s, pair[1], m, arm, p.Base)
			e := Evidence{Part: part, cells: pair[:], refusal: cmp.Or(here.Refusal, there.Refusal), Of: min(here.Of, there.Of)}
			e.compares(s.Header.Study, func(say words) string {
				return say.arm(arm) + " ÷ " + say.arm(p.Base) + say.at(pair[0]) + " ÷ the same" + say.at(pair[1])
			})
			e.effects = cells.InOrder(cells.Subtract(here.Pairs.ByBlock(), there.Pairs.ByBlock()))
			e.notHere(s, here)
			e.notHere(s, there)
			all = append(all, e)
		}
	}
	return all
}

// steadiness compares, block by block, how far the arms' ratios to the base
// scatter from cell to cell with how far those of the others do.
func steadiness(s *cells.Dataset, part int, p record.ClaimPart, m metric.Metric, columns []string) []Evidence {
	if len(columns) < 2 {
		return nil
	}
	e := Evidence{Part: part, cells: columns}
	e.compares(s.Header.Study, func(say words) string {
		return fmt.Sprintf("how %s vary over %d cells ÷ how %s do", say.ratios(p.Than, p.Base), len(columns), say.ratios(p.Arms, p.Base))
	})
	scatter := func(arms []string) map[int]float64 {
		perBlock := map[int][]float64{} // variances, one for each arm
		for _, arm := range arms {
			logs := map[int][]float64{}
			for _, cell := range columns {
				b := compare.Prepare(s, cell, m, arm, p.Base)
				e.refusal, e.Of = cmp.Or(b.Refusal, e.refusal), max(e.Of, b.Of)
				for i, block := range b.Pairs.Blocks {
					logs[block] = append(logs[block], b.Pairs.Effects[i])
				}
				e.notHere(s, b)
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
	e.effects = cells.InOrder(cells.Subtract(scatter(p.Than), scatter(p.Arms)))
	return []Evidence{e}
}

// words are those for arms and cells: names, or labels.
type words struct{ arm, at func(string) string }

// compares says what an evidence compares, by names and by labels.
func (e *Evidence) compares(study record.Study, say func(words) string) {
	e.What = say(words{func(arm string) string { return arm }, cells.InCell})
	e.said = say(words{
		func(arm string) string { return cells.ArmWithin(study, arm) },
		func(cell string) string {
			if cell == "" {
				return ""
			}
			return " at " + cells.CellLabel(study, cell)
		},
	})
}

func (say words) ratios(arms []string, base string) string {
	said := make([]string, len(arms))
	for i, arm := range arms {
		said[i] = say.arm(arm)
	}
	return strings.Join(said, ", ") + " ÷ " + say.arm(base)
}
