package cells

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// trait is one thing that tells cells apart: the sweep that a cell is of, or a level.
type trait struct{ factor, level, words string }

// traitsOf are a cell's: its sweep's label first, as the factor "".
func (n Names) traitsOf(cell string) []trait {
	own, ok := n.labels.Cells[cell]
	if !ok {
		own.Beside = cell
	}
	var all []trait
	if own.Label != "" {
		all = append(all, trait{"", own.Label, own.Label})
	}
	for _, text := range levelsIn(own.Beside) {
		factor, level, _ := strings.Cut(text, "=")
		if plain, err := strconv.Unquote(level); err == nil {
			level = plain
		}
		all = append(all, trait{factor, level, n.Level(factor, level)})
	}
	return all
}

// Together names some cells of a study by what they have in common and no other cell has:
// "50 and 1,000 connections", "up to 100 connections". "" where two traits do not tell them
// from the others.
func (n Names) Together(of, all []string) string {
	var traits []trait // of all cells, each once
	has := map[string]map[trait]bool{}
	for _, cell := range all {
		has[cell] = map[trait]bool{}
		for _, t := range n.traitsOf(cell) {
			if has[cell][t] = true; !slices.Contains(traits, t) {
				traits = append(traits, t)
			}
		}
	}
	var factors []string
	shared := map[string][]trait{} // by factor, those that one of the cells has
	for _, t := range traits {
		if !slices.Contains(factors, t.factor) {
			factors = append(factors, t.factor)
		}
		if slices.ContainsFunc(of, func(cell string) bool { return has[cell][t] }) {
			shared[t.factor] = append(shared[t.factor], t)
		}
	}
	tells := func(by ...string) bool {
		return !slices.ContainsFunc(all, func(cell string) bool {
			outside := slices.ContainsFunc(by, func(factor string) bool {
				return !slices.ContainsFunc(shared[factor], func(t trait) bool { return has[cell][t] })
			})
			return outside == slices.Contains(of, cell)
		})
	}
	for i, one := range factors {
		if tells(one) {
			return span(shared[one], traits)
		}
		for _, other := range factors[:i] {
			if tells(other, one) {
				return span(shared[other], traits) + ", " + span(shared[one], traits)
			}
		}
	}
	return ""
}

// span lists levels of one factor; of numbers that are the first or the last of it, the end.
func span(levels, all []trait) string {
	all = slices.DeleteFunc(slices.Clone(all), func(t trait) bool { return t.factor != levels[0].factor })
	number := func(t trait) float64 { x, _ := strconv.ParseFloat(t.level, 64); return x }
	if !slices.ContainsFunc(all, func(t trait) bool { _, err := strconv.ParseFloat(t.level, 64); return err != nil }) && len(levels) > 1 {
		byNumber := func(a, b trait) int { return cmp.Compare(number(a), number(b)) }
		levels = slices.SortedFunc(slices.Values(levels), byNumber)
		slices.SortFunc(all, byNumber)
		switch n := len(levels); {
		case n < 3 || n == len(all):
		case slices.Equal(levels, all[:n]):
			return "up to " + levels[n-1].words
		case slices.Equal(levels, all[len(all)-n:]):
			return levels[0].words + " and more"
		}
	}
	return listed(levels)
}

// listed lists levels whose words begin or end alike with that said once: "50 and 1,000
// connections", "response 16 KiB and 128 KiB".
func listed(levels []trait) string {
	words := make([]string, len(levels))
	first, _, _ := strings.Cut(levels[0].words, " ")
	_, unit, _ := strings.Cut(levels[0].words, " ")
	begin, end := true, unit != ""
	for i, t := range levels {
		words[i] = t.words
		begin = begin && strings.HasPrefix(t.words, first+" ")
		end = end && strings.HasSuffix(t.words, " "+unit)
	}
	for i := range words {
		switch {
		case end && i < len(words)-1:
			words[i] = strings.TrimSuffix(words[i], " "+unit)
		case begin && !end && i > 0:
			words[i] = strings.TrimPrefix(words[i], first+" ")
		}
	}
	last := len(words) - 1
	if last == 0 {
		return words[0]
	}
	return strings.Join(words[:last], ", ") + " and " + words[last]
}
