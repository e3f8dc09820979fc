package answer

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/read/best"
	"netdyno/internal/read/part"
)

// priceOf is what arms have of a metric against another; false unless all of them are shown
// to be worse in all cells.
func (f Found) priceOf(metric string, in, arms []string, base string) (span, bool) {
	var ratios []float64
	for _, cell := range in {
		for _, arm := range arms {
			p := f.Best.PriceOf(cell, metric, arm, base)
			if !p.Worse || p.Ratio == 0 {
				return span{}, false
			}
			ratios = append(ratios, p.Ratio)
		}
	}
	return spanOf(ratios), len(ratios) > 0
}

// group are arms that cost more on the same metrics.
type group struct {
	name   string
	plural bool
	arms   []string
	price  map[string]span // by metric
}

// others says what the arms cost that are not advised, those of one family together, and
// which of them may be as good.
func (f Found) others(a best.Advice) (prices, open []string) {
	metrics := f.metrics()
	var groups []group
	var level []string
	base := a.Arms[0]
	for _, arm := range f.rest(a) {
		price := map[string]span{}
		for _, m := range metrics {
			if s, worse := f.priceOf(m.Name, a.Cells, []string{arm}, base); worse {
				price[m.Name] = s
			}
		}
		if len(price) == 0 {
			level = append(level, arm)
			continue
		}
		groups = append(groups, group{name: f.label(arm), arms: []string{arm}, price: price})
	}
	if len(level) > 0 && a.Kind == best.Use {
		open = []string{f.sentenceOf(f.few(level) + " may be as good: not settled")}
	}
	if len(groups) == 0 {
		return nil, open
	}
	families := f.families(groups, a.Arms)
	for _, most := range []int{armsSaid, 1} {
		for n := min(metricsSaid, len(metrics)); n > 0; n-- {
			if text := f.sayGroups(gathered(families, most, len(level) == 0), metrics[:n]); text != "" {
				prices = append(prices, text)
			}
		}
	}
	return prices, open
}

// rest are the arms that ran in all cells of an advice and are not advised.
func (f Found) rest(a best.Advice) []string {
	var arms []string
	for _, set := range f.Best.Sets {
		for _, one := range set.Arms {
			if set.Cell == a.Cells[0] && !slices.Contains(a.Arms, one.Name) && !slices.Contains(arms, one.Name) && one.Standing != best.Unknown {
				arms = append(arms, one.Name)
			}
		}
	}
	return arms
}

// family is what labels have in common that begin alike: "gRPC" of "gRPC, unary" and "gRPC
// in C++".
func family(label string) string {
	for _, end := range []string{" (", " in ", " with ", " without ", " over "} {
		label, _, _ = strings.Cut(label, end)
	}
	return label
}

// families joins the groups of arms of one family, where it has no arm that is advised or
// costs nothing.
func (f Found) families(groups []group, advised []string) []group {
	members := map[string]int{}
	for _, arm := range f.armsOf() {
		members[family(f.label(arm))]++
	}
	var joined []group
	done := map[string]bool{}
	for _, g := range groups {
		name := family(g.name)
		if done[name] {
			continue
		}
		var own []group
		for _, other := range groups {
			if family(other.name) == name {
				own = append(own, other)
			}
		}
		if len(own) < 2 || len(own) < members[name] {
			joined = append(joined, g)
			continue
		}
		done[name] = true
		together := merged(own)
		together.name, together.plural = name+" in any form", false
		joined = append(joined, together)
	}
	return joined
}

// armsOf lists the arms of the run.
func (f Found) armsOf() []string {
	var arms []string
	for _, c := range f.Cells {
		for _, a := range c.Arms {
			if !slices.Contains(arms, a.Name) {
				arms = append(arms, a.Name)
			}
		}
	}
	return arms
}

// merged is one group of several: a price on each metric on which all have one.
func merged(groups []group) group {
	out := group{price: map[string]span{}, plural: true}
	for name := range groups[0].price {
		s := groups[0].price[name]
		all := true
		for _, g := range groups[1:] {
			p, ok := g.price[name]
			all = all && ok
			s = span{min(s.low, p.low), max(s.high, p.high)}
		}
		if all {
			out.price[name] = s
		}
	}
	for _, g := range groups {
		out.arms = append(out.arms, g.arms...)
	}
	return out
}

// gathered keeps so many groups at most: those behind them are one. All tells whether the
// groups are all other arms.
func gathered(groups []group, most int, all bool) []group {
	if len(groups) <= most {
		return groups
	}
	rest := merged(groups[most-1:])
	switch {
	case !all:
		rest.name = spelled(len(rest.arms)) + " others"
	case most == 1:
		rest.name = "all others"
	default:
		rest.name = "the other " + spelled(len(rest.arms))
	}
	return append(slices.Clone(groups[:most-1]), rest)
}

// spelled is a count that may stand beside a figure.
func spelled(n int) string {
	if words := []string{2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine"}; n < len(words) && words[n] != "" {
		return words[n]
	}
	return fmt.Sprint(n)
}

// sayGroups says what groups cost on some metrics, the nearest first.
func (f Found) sayGroups(groups []group, metrics []metric.Metric) string {
	weigh := func(g group) float64 {
		s, ok := g.price[metrics[0].Name]
		switch {
		case !ok:
			return 0
		case metrics[0].Better == metric.Higher:
			return -s.high
		}
		return s.low
	}
	if n := len(groups); n > 1 {
		named := groups
		if groups[n-1].plural { // the others stay last
			named = groups[:n-1]
		}
		slices.SortStableFunc(named, func(a, b group) int { return cmp.Compare(weigh(a), weigh(b)) })
	}
	var texts []string
	said := map[string]bool{}
	for len(groups) > 0 {
		g := groups[0]
		var alike []group // that cost the same, as it is printed
		alike, groups = alikeFirst(groups, metrics)
		if len(alike) > 1 {
			g = merged(alike)
			var names []string
			for _, one := range alike {
				names = append(names, one.name)
			}
			g.name = part.And(names)
		}
		if text := sayGroup(g, metrics, said); text != "" {
			texts = append(texts, text)
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return f.sentenceOf(strings.Join(texts, "; "))
}

// alikeFirst parts the groups that cost what the first does from the others.
func alikeFirst(groups []group, metrics []metric.Metric) (alike, others []group) {
	first := sayGroup(group{price: groups[0].price}, metrics, map[string]bool{})
	for _, g := range groups {
		if sayGroup(group{price: g.price}, metrics, map[string]bool{}) == first {
			alike = append(alike, g)
		} else {
			others = append(others, g)
		}
	}
	return alike, others
}

// sayGroup says what a group costs, without the words that were said of another; "" where it
// costs nothing on these metrics.
func sayGroup(g group, metrics []metric.Metric, said map[string]bool) string {
	short := true
	for _, m := range metrics {
		if _, ok := g.price[m.Name]; ok {
			short = short && said[m.Name]
		}
	}
	var parts []string
	verb := ""
	for _, m := range metrics {
		s, ok := g.price[m.Name]
		if !ok {
			continue
		}
		said[m.Name] = true
		text := priced(m, s, g.plural, short)
		if own, rest, _ := strings.Cut(text, " "); !short && own == verb { // needs … and needs
			text = rest
		} else {
			verb = own
		}
		parts = append(parts, text)
	}
	switch {
	case len(parts) == 0:
		return ""
	case len(parts) == 2 && parts[0] == parts[1]:
		parts = []string{strings.Replace(parts[0]+" of each", "times of each", "times each", 1)}
	}
	return strings.TrimSpace(g.name + " " + part.And(parts))
}
