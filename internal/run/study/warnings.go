package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// fewestBlocks is the least number with which the two-sided sign-flip p,
// 2/2ⁿ, can fall below 0.05 (METHOD §6.2).
const fewestBlocks = 6

// warnings names what the plan cannot tell, before it is run.
func (s *Study) warnings() []record.Warning {
	var out []record.Warning
	if s.Blocks < fewestBlocks {
		out = append(out, record.Warning{
			About:  "blocks",
			Text:   fmt.Sprintf("with %d blocks p cannot fall below %.3g, so no comparison can be better or worse", s.Blocks, 2/float64(int(1)<<s.Blocks)),
			Advice: fmt.Sprintf("run at least %d blocks", fewestBlocks),
		})
	}
	if s.Compare.Factor != armFactor {
		return out
	}
	out = append(out, s.confoundedArms()...)
	if len(s.Arms) > 2 { // two arms: already said above
		out = append(out, s.aliasedFactors()...)
	}
	return out
}

// confoundedArms warns of arms that differ from the baseline in more than one
// factor: what makes the difference cannot be told from such a pair alone.
func (s *Study) confoundedArms() []record.Warning {
	var base map[string]string
	for _, a := range s.Arms {
		if a.Name == s.Compare.Baseline {
			base = a.treatment()
		}
	}
	var out []record.Warning
	for _, a := range s.Arms {
		if d := differing(a.treatment(), base); len(d) > 1 {
			out = append(out, record.Warning{
				About:  "confounded: arm " + a.Name,
				Text:   fmt.Sprintf("arm %s differs from the baseline %s in %d factors: %s", a.Name, s.Compare.Baseline, len(d), strings.Join(d, ", ")),
				Advice: "read the comparison as one of bundles, or add arms that change one factor at a time",
			})
		}
	}
	return out
}

// treatment returns the arm's levels by factor; defaults are not filled in.
func (a Arm) treatment() map[string]string {
	levels := map[string]string{}
	for _, x := range a.Settings {
		levels[x.Factor] = x.Level.Text
	}
	return levels
}

// differing lists the factors in which two arms differ. An option that only
// one of two arms with different transports sets is part of its transport,
// not a second factor: the other transport has no such option to equal.
func differing(a, b map[string]string) []string {
	ends := func(levels map[string]string) string {
		return levels["transport"] + " " + levels["server"] + " " + levels["client"]
	}
	otherTransport := ends(a) != ends(b)
	all := map[string]bool{}
	for f := range a {
		all[f] = true
	}
	for f := range b {
		all[f] = true
	}
	var out []string
	for _, f := range sortedKeys(all) {
		inA, inB := levelOr(a, f), levelOr(b, f)
		_, setA := a[f]
		_, setB := b[f]
		nested := strings.HasPrefix(f, optionPrefix) && otherTransport && setA != setB
		if inA != inB && !nested {
			out = append(out, f)
		}
	}
	return out
}

// levelOr returns a factor's level or its default.
func levelOr(levels map[string]string, factor string) string {
	if l, ok := levels[factor]; ok {
		return l
	}
	if f, err := factorNamed(factor); err == nil {
		return f.Default
	}
	return ""
}

// aliasedFactors warns of factors that change only together, over all arms.
func (s *Study) aliasedFactors() []record.Warning {
	names := map[string]bool{}
	for _, a := range s.Arms {
		for _, x := range a.Settings {
			names[x.Factor] = true
		}
	}
	groups := map[string][]string{}
	for _, f := range sortedKeys(names) {
		if pattern := s.pattern(f); pattern != "" && !strings.HasPrefix(f, optionPrefix) {
			groups[pattern] = append(groups[pattern], f)
		}
	}
	var out []record.Warning
	for _, pattern := range sortedKeys(groups) {
		if g := groups[pattern]; len(g) > 1 {
			out = append(out, record.Warning{
				About:  "confounded: " + strings.Join(g, ", "),
				Text:   fmt.Sprintf("%s vary only together over the arms", strings.Join(g, " and ")),
				Advice: "add arms that cross them, or the study cannot say which of them matters",
			})
		}
	}
	return out
}

// pattern says which arms share a level of a factor; equal patterns are
// confounded. It is "" for a factor at one level.
func (s *Study) pattern(factor string) string {
	index := map[string]int{}
	var b strings.Builder
	for _, a := range s.Arms {
		level := levelOr(a.treatment(), factor)
		if _, known := index[level]; !known {
			index[level] = len(index)
		}
		fmt.Fprintf(&b, "%d ", index[level])
	}
	if len(index) < 2 {
		return ""
	}
	return b.String()
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
