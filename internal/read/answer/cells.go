package answer

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/best"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/part"
)

// several says cells that disagree: an arm that is nowhere shown to be beaten, where which
// arm, or who may be the best in how many cells.
func (f Found) several(all []best.Advice) said {
	s := said{}
	total := 0
	kinds := map[best.Kind]int{}
	for _, a := range all {
		total += len(a.Cells)
		kinds[a.Kind] += len(a.Cells)
		s.named = append(s.named, a.Arms...)
	}
	if kinds[best.Undecided] > 0 {
		s.open = f.goOn()
	}
	if arm, in := everywhere(all); arm != "" && 2*len(in) > total {
		s.named = []string{arm}
		beginning := "Use " + f.label(arm)
		if len(in) < total {
			beginning += ", the best or level" + f.where(in, total) + " and beaten nowhere"
		}
		s.use = f.forms(beginning, s.named, in)
		return s
	}
	if kinds[best.Nothing] == total {
		return f.one(best.Advice{Kind: best.Nothing})
	}
	if kinds[best.Undecided] == total {
		if left := everywhereOpen(all); len(left) > 0 {
			a := best.Advice{Kind: best.Undecided, Arms: left}
			for _, one := range all {
				a.Cells = append(a.Cells, one.Cells...)
			}
			return f.one(a)
		}
	}
	if text := f.along(all); text != "" {
		s.use = []string{text}
		s.others = f.crossing(s.named)
		return s
	}
	s.use, s.others = f.byCell(all, total), f.crossing(s.named)
	return s
}

// everywhereOpen are the arms that may be the best in every cell.
func everywhereOpen(all []best.Advice) []string {
	left := slices.Clone(all[0].Arms)
	for _, a := range all[1:] {
		left = slices.DeleteFunc(left, func(arm string) bool { return !slices.Contains(a.Arms, arm) })
	}
	return left
}

// byCell names the cells of each advice, or counts them.
func (f Found) byCell(all []best.Advice, total int) []string {
	told := slices.DeleteFunc(slices.Clone(all), func(a best.Advice) bool { return a.Kind != best.Use && a.Kind != best.Either })
	slices.SortStableFunc(told, func(a, b best.Advice) int { return len(b.Cells) - len(a.Cells) })
	if len(told) == 0 {
		return []string{f.sentenceOf("no arm is shown to be the best" + f.possible(all, total))}
	}
	rest := []struct {
		kind  best.Kind
		words string
	}{{best.Undecided, "not decided"}, {best.Trade, "no arm is the best on every metric"}, {best.Nothing, "nothing can be compared"}}
	var forms []string
	for _, most := range []int{4, armsSaid, 2, 1} {
		var parts []holding
		var more []string // cells of other arms
		for i, a := range told {
			switch {
			case i >= most:
				more = append(more, a.Cells...)
			case i > 0:
				parts = append(parts, holding{strings.TrimPrefix(f.inOne(a), "use "), a.Cells})
			default:
				parts = append(parts, holding{f.inOne(a), a.Cells})
			}
		}
		parts = append(parts, holding{"other arms", more})
		for _, other := range rest {
			parts = append(parts, holding{other.words, cellsOf(all, other.kind)})
		}
		forms = append(forms, f.sentenceOf(f.inPlaces(parts, total)))
	}
	return forms
}

// holding is what holds in some cells.
type holding struct {
	words string
	cells []string
}

// inPlaces says in which cells something holds. Cells without names are given by their
// number, and the last ones as "the others".
func (f Found) inPlaces(parts []holding, total int) string {
	parts = slices.DeleteFunc(parts, func(p holding) bool { return len(p.cells) == 0 })
	of := fmt.Sprintf(" of %d cells", total) // said once
	var said []string
	for i, p := range parts {
		where := f.where(p.cells, total)
		if counted := strings.HasSuffix(where, of); counted && i > 0 && i == len(parts)-1 {
			where = " elsewhere"
		} else if counted && strings.Contains(strings.Join(said, ""), of) {
			where = strings.TrimSuffix(where, of)
		}
		said = append(said, p.words+where)
	}
	return strings.Join(said, "; ")
}

// cellsOf are the cells of all advice of a kind.
func cellsOf(all []best.Advice, kind best.Kind) []string {
	var in []string
	for _, a := range all {
		if a.Kind == kind {
			in = append(in, a.Cells...)
		}
	}
	return in
}

// possible says which arms may be the best in most cells.
func (f Found) possible(all []best.Advice, total int) string {
	count := map[string]int{}
	var arms []string
	for _, a := range all {
		for _, arm := range a.Arms {
			if count[arm] == 0 {
				arms = append(arms, arm)
			}
			count[arm] += len(a.Cells)
		}
	}
	slices.SortStableFunc(arms, func(a, b string) int { return count[b] - count[a] })
	var parts []string
	for _, arm := range arms[:min(2, len(arms))] {
		parts = append(parts, fmt.Sprintf("%s may be in %d of %d cells", f.label(arm), count[arm], total))
	}
	if len(parts) == 0 {
		return ""
	}
	return ": " + strings.ReplaceAll(part.And(parts), fmt.Sprintf(" of %d cells and ", total), fmt.Sprintf(" of %d cells, and ", total))
}

// everywhere is the arm that is the best or level in most cells, and those, if it may be
// the best in all others.
func everywhere(all []best.Advice) (arm string, in []string) {
	fit, possible, total := map[string][]string{}, map[string]int{}, 0
	var order []string
	for _, a := range all {
		total += len(a.Cells)
		for _, arm := range a.Arms {
			if possible[arm] += len(a.Cells); !slices.Contains(order, arm) {
				order = append(order, arm)
			}
			if a.Kind == best.Use || a.Kind == best.Either {
				fit[arm] = append(fit[arm], a.Cells...)
			}
		}
	}
	for _, one := range order {
		if possible[one] == total && len(fit[one]) > len(in) {
			arm, in = one, fit[one]
		}
	}
	return arm, in
}

// along says where one arm, where another, if the cells are the levels of one factor and
// each of two arms is to be used on one side.
func (f Found) along(all []best.Advice) string {
	if len(all) != 2 || all[0].Kind != best.Use || all[1].Kind != best.Use {
		return ""
	}
	factor := ""
	ends := [2]span{}
	for i, a := range all {
		var at []float64
		for _, cell := range a.Cells {
			name, level, _ := strings.Cut(cell, "=")
			x, err := strconv.ParseFloat(level, 64)
			if err != nil || factor != "" && name != factor {
				return ""
			}
			factor, at = name, append(at, x)
		}
		ends[i] = spanOf(at)
	}
	if ends[0].low > ends[1].low {
		all, ends = []best.Advice{all[1], all[0]}, [2]span{ends[1], ends[0]}
	}
	if ends[0].high >= ends[1].low {
		return ""
	}
	at := func(x float64) string {
		return cells.Spoken(factor + "=" + strconv.FormatFloat(x, 'f', -1, 64))
	}
	use := func(a best.Advice) string {
		if figure := f.figures(a.Arms, a.Cells, false); figure != "" {
			return f.anyOf(a.Arms) + " (" + figure + ")"
		}
		return f.anyOf(a.Arms)
	}
	return fmt.Sprintf("Use %s up to %s, and %s from %s.", use(all[0]), at(ends[0].high), use(all[1]), at(ends[1].low))
}

// crossing is where two of some arms cross, as a chart of a judged metric found it.
func (f Found) crossing(arms []string) []string {
	for _, c := range f.Charts {
		for _, x := range c.Crosses {
			if slices.Contains(arms, x.Arm) && slices.Contains(arms, x.Base) && slices.Contains(f.Header.Study.Compare.Primary, c.Spec.Metric) {
				return []string{fmt.Sprintf("They cross at about %s (%s–%s).", cells.Spoken(x.Factor+"="+x.At), x.Low, x.High)}
			}
		}
	}
	return nil
}

// inOne says an advice as a part of a sentence.
func (f Found) inOne(a best.Advice) string {
	switch a.Kind {
	case best.Use:
		return "use " + f.anyOf(a.Arms)
	case best.Either:
		return "take whichever you like"
	case best.Undecided:
		return "not decided: " + f.anyOf(a.Arms)
	case best.Nothing:
		return "nothing is advised"
	}
	var picks []string
	for _, p := range a.Picks {
		picks = append(picks, f.anyOf(p.Arms)+" for "+metric.Shown(p.Metric).Doc)
	}
	return part.And(picks)
}

// inShort is an advice as a sentence, with all its cells.
func (f Found) inShort(a best.Advice) string {
	var in []string
	for _, cell := range a.Cells {
		in = append(in, cells.CellLabel(f.Header.Study, cell))
	}
	return f.sentenceOf(f.inOne(a) + ": " + strings.Join(in, "; "))
}

// cellWords bounds the names of cells that are said.
const cellWords = 9

// where names the cells of an advice together or each, or counts them.
func (f Found) where(of []string, total int) string {
	all := make([]string, len(f.Cells))
	for i, c := range f.Cells {
		all[i] = c.Name
	}
	if in := cells.Together(f.Header.Study, of, all); in != "" && len(strings.Fields(in)) <= cellWords {
		return " at " + in
	}
	var in []string
	for _, cell := range of {
		in = append(in, cells.CellLabel(f.Header.Study, cell))
	}
	if len(of) > 2 || words(in) > cellWords {
		return fmt.Sprintf(" in %d of %d cells", len(of), total)
	}
	return " at " + part.And(in)
}
