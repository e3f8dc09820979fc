package study

import (
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// Chart checks a chart: see Scope.
func (c Scope) Chart(x record.Chart) (key, text string) {
	for _, m := range []struct{ key, name string }{{"metric", x.Metric}, {"against", x.Against}} {
		if m.name == "" {
			continue
		}
		if text := metricProblem(m.name); text != "" {
			return m.key, text
		}
	}
	for _, f := range []struct{ key, name string }{{"x", x.X}, {"y", x.Y}} {
		if f.name == "" {
			continue
		}
		if text := c.axisProblem(f.name); text != "" {
			return f.key, text
		}
	}
	if x.By != "" && x.By != c.compared {
		if text := c.factorProblem(x.By); text != "" {
			return "by", text
		}
	}
	for _, name := range x.Arms {
		if text := c.armProblem(name); text != "" {
			return "arms", text
		}
	}
	return c.whereProblem(x.Where, x.Arms)
}

// Fit checks a fit: see Scope.
func (c Scope) Fit(f record.Fit) (key, text string) {
	if text := metricProblem(f.Metric); text != "" {
		return "metric", text
	}
	if text := c.axisProblem(f.Per); text != "" {
		return "per", text
	}
	for i, term := range f.Terms {
		if term == f.Per || slices.Contains(f.Terms[:i], term) {
			return "terms", term + " is named twice"
		}
		if text := c.axisProblem(term); text != "" {
			return "terms", text
		}
	}
	return c.whereProblem(f.Where, nil)
}

// Reach checks a search: see Scope.
func (c Scope) Reach(r record.Reach) (key, text string) {
	m, err := metric.Named(r.Metric)
	switch {
	case err != nil:
		return "metric", metricProblem(r.Metric)
	case m.Better != metric.Higher:
		return "metric", "more of " + r.Metric + " is not better; expected a metric of which more is, such as " + strings.Join(highMetrics(), ", ")
	}
	for i, factor := range r.Least {
		if slices.Contains(r.Least[:i], factor) {
			return "least", factor + " is named twice"
		}
		if text := c.axisProblem(factor); text != "" {
			return "least", text
		}
	}
	return c.whereProblem(r.Where, nil)
}

// Pays checks a replacement: see Scope.
func (c Scope) Pays(p record.Pays) (key, text string) {
	for _, side := range []struct {
		key  string
		arms []string
	}{{"arms", p.Arms}, {"instead_of", p.InsteadOf}} {
		if len(side.arms) == 0 {
			return side.key, "no arm is left"
		}
		for _, name := range side.arms {
			if text := c.armProblem(name); text != "" {
				return side.key, text
			}
		}
	}
	if i := slices.IndexFunc(p.Arms, func(name string) bool { return slices.Contains(p.InsteadOf, name) }); i >= 0 {
		return "instead_of", p.Arms[i] + " would replace itself"
	}
	return c.whereProblem(p.Where, slices.Concat(p.Arms, p.InsteadOf))
}

// Cost checks a model of a cost: see Scope.
func (c Scope) Cost(x record.Cost) (key, text string) {
	if text := metricProblem(x.Metric); text != "" {
		return "metric", text
	}
	if x.Per != "" {
		if text := c.axisProblem(x.Per); text != "" {
			return "per", text
		}
	}
	if len(x.Terms) == 0 {
		return "terms", "no factor is left"
	}
	for i, term := range x.Terms {
		if term == x.Per || slices.Contains(x.Terms[:i], term) {
			return "terms", term + " is named twice"
		}
		if text := c.axisProblem(term); text != "" {
			return "terms", text
		}
	}
	for _, factor := range sortedKeys(x.Holdout) {
		for _, level := range x.Holdout[factor] {
			if _, text := c.whereProblem(map[string]string{factor: level}, nil); text != "" {
				return "holdout", text
			}
		}
	}
	return c.whereProblem(x.Where, nil)
}

// keptLevels leaves out of each model the factors that are no terms any more, as one
// level of them was typed, and the levels that are no longer held out.
func (c Scope) keptLevels(all []record.Cost) []record.Cost {
	all = slices.Clone(all)
	for i := range all {
		x := &all[i]
		x.Terms = slices.DeleteFunc(slices.Clone(x.Terms), func(factor string) bool { return len(allLevels(c.designs, factor)) == 0 })
		held := map[string][]string{}
		for factor, levels := range x.Holdout {
			for _, level := range levels {
				if hasText(allLevels(c.designs, factor), level) {
					held[factor] = append(held[factor], level)
				}
			}
		}
		x.Holdout = held
	}
	return all
}

// highMetrics returns some metrics of which more is better.
func highMetrics() []string {
	var names []string
	for _, m := range metric.All() {
		if m.Better == metric.Higher && len(names) < 3 {
			names = append(names, m.Name)
		}
	}
	return names
}

// Claim checks every part of a claim: see Scope.
func (c Scope) Claim(claim record.Claim) (key, text string) {
	for _, p := range claim.Parts {
		if key, text := c.ClaimPart(p); text != "" {
			return key, text
		}
	}
	return "", ""
}

// ClaimPart checks one part of a claim: see Scope.
func (c Scope) ClaimPart(p record.ClaimPart) (key, text string) {
	if text := metricProblem(p.Metric); text != "" {
		return "metric", text
	}
	for _, named := range []struct {
		key   string
		names []string
	}{{"arms", p.Arms}, {"base", []string{p.Base}}, {"than", p.Than}} {
		for _, name := range named.names {
			if text := c.armProblem(name); text != "" {
				return named.key, text
			}
		}
	}
	switch {
	case slices.Contains(p.Arms, p.Base) || slices.Contains(p.Than, p.Base):
		return "base", p.Base + " is divided by itself"
	case (p.Is == record.Steadier) != (len(p.Than) > 0):
		return "is", "a claim that is steadier needs the arms under than, and no other claim takes them"
	case p.Is == record.Steadier && len(p.From) > 0:
		return "from", "a claim that is steadier compares cells already; leave from out"
	}
	arms := append(slices.Concat(p.Arms, p.Than), p.Base)
	if _, text := c.whereProblem(p.From, arms); text != "" && len(p.From) > 0 {
		return "from", text
	}
	return c.whereProblem(p.Where, arms)
}
