package study

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/condition"
	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// Scope is what a study's trials have: the arms, factors and levels of which
// charts, fits, reaches, claims and requirements may speak. Its methods say why
// something asks for what no trial has, and some of them which key does; all is ""
// for a sound one.
type Scope struct {
	compared string
	arms     []string // levels of the compared factor
	named    []string // factors that the study itself names, as trials have them
	designs  []*design
	searches bool // for a capacity: its trials get rates while it runs
}

// Scope returns what may be asked of the study.
func (s *Study) Scope() Scope {
	named := map[string]bool{}
	for factor := range s.Levels() {
		switch factor {
		case ArmFactor: // its bundles are unfolded
		case "transport":
			named["server"], named["client"] = true, true
		default:
			named[factor] = true
		}
	}
	return Scope{compared: s.Compare.Factor, arms: factorOf(s.Compared()).Levels, named: sortedKeys(named), designs: s.designs(), searches: s.Capacity != nil}
}

// Arms returns the levels of the compared factor.
func (c Scope) Arms() []string { return c.arms }

// Open reports whether some trial has an open loop, in which alone response
// times exist.
func (c Scope) Open() bool {
	_, open := loops(c.designs)
	return open || c.searches
}

// ResponsePrefix begins the metrics that exist in an open loop only.
const ResponsePrefix = "response_"

// By says why a view cannot have a line, or a mark, for each level of a factor; "" when
// it can, as of the compared one.
func (c Scope) By(factor string) string {
	if factor == c.compared {
		return ""
	}
	return c.Factor(factor)
}

// Factor says that the study does not name a factor; "" when it does.
func (c Scope) Factor(factor string) string {
	if !slices.Contains(c.named, factor) {
		return fmt.Sprintf("the study neither varies nor holds %q; %s", quantity.Clip(factor, 80), quantity.Hint(factor, c.named))
	}
	return ""
}

// Axis says why a factor cannot be an axis or a term, which need
// numbers; "" when it can.
func (c Scope) Axis(factor string) string {
	if text := c.Factor(factor); text != "" {
		return text
	}
	for _, l := range allLevels(c.designs, factor) {
		if !numeric(l.Text) {
			return fmt.Sprintf("%s has the level %q; expected a factor whose levels are numbers", factor, quantity.Clip(l.Text, 80))
		}
	}
	return ""
}

// numeric reports whether a level is a number with or without a unit. Options
// have no kind before a worker declares them, so their texts must tell.
func numeric(text string) bool {
	_, size := quantity.ParseBytes(text)
	_, count := quantity.ParseCount(text)
	_, rate := quantity.ParseRate(text)
	_, duration := quantity.ParseDuration(text)
	_, bits := quantity.ParseBitRate(text)
	_, share := quantity.ParseShare(text)
	return size == nil || count == nil || rate == nil || duration == nil || bits == nil || share == nil
}

// Where says why no trial of some arms, or of any when none is named, has
// the levels to which a view is confined; "" when one has.
func (c Scope) Where(where map[string]string, arms []string) (key, text string) {
	for _, factor := range sortedKeys(where) {
		levels := allLevels(c.designs, factor)
		if hasText(levels, where[factor]) {
			continue
		}
		if len(levels) == 0 {
			return "where", fmt.Sprintf("no trial has the factor %q; %s", factor, quantity.Hint(factor, c.named))
		}
		return "where", fmt.Sprintf("%s: no trial has the level %q; %s", factor, quantity.Clip(where[factor], 80), quantity.Hint(where[factor], textsOf(levels)))
	}
	for _, d := range c.designs {
		for _, arm := range d.armsOrNone() {
			if d.meets(arm, where) && (len(arms) == 0 || arm == nil || c.compared != ArmFactor || slices.Contains(arms, arm.Name)) {
				return "", ""
			}
		}
	}
	parts := each.Of(sortedKeys(where), func(factor string) string { return factor + "=" + cellText(where[factor]) })
	return "where", "no trial has " + strings.Join(parts, " and ") + " at once"
}

// Arm says that no arm has a name; "" when one has.
func (c Scope) Arm(name string) string {
	if slices.Contains(c.arms, name) {
		return ""
	}
	return fmt.Sprintf("%s has no level %q; %s", c.compared, quantity.Clip(name, 80), quantity.Hint(name, c.arms))
}

// MetricNames returns the name of every metric.
func MetricNames() []string {
	return each.Of(metric.All(), func(m metric.Metric) string { return m.Name })
}

// HighMetrics names some metrics of which more is better, as examples for errors.
func HighMetrics() string {
	var names []string
	for _, m := range metric.All() {
		if m.Better == metric.Higher && len(names) < 3 {
			names = append(names, m.Name)
		}
	}
	return strings.Join(names, ", ")
}

// OpenLoopOnly says why a closed loop has no such metric.
func OpenLoopOnly(metric string) string {
	return metric + " exists in an open loop only, and no trial has a rate; name service_… or set rate"
}

// Condition says what a condition of a statement names that no trial has; "" for a sound
// one.
func (c Scope) Condition(x condition.Condition) string {
	for _, arm := range x.Arms() {
		if text := c.Arm(arm); text != "" {
			return text
		}
	}
	if strings.HasPrefix(x.Metric, ResponsePrefix) && !c.Open() {
		return OpenLoopOnly(x.Metric)
	}
	axes := x.Factors
	if x.Form == condition.Growth {
		axes = append(axes, x.Per)
		for _, term := range x.Terms {
			axes = append(axes, term.Factor)
		}
	}
	for i, factor := range axes {
		if text := c.Axis(factor); text != "" {
			return text
		}
		if slices.Contains(axes[:i], factor) {
			return factor + " is named twice"
		}
	}
	if m := metric.Shown(x.Metric); x.Form == condition.Least && m.Better != metric.Higher {
		return "more of " + m.Name + " is not better; expected a metric such as " + HighMetrics()
	}
	return c.levelsOf(x)
}

// levelsOf says which levels of a condition no trial of its arms has; "" for none.
func (c Scope) levelsOf(x condition.Condition) string {
	left := x.Of.Arms
	base := slices.DeleteFunc(slices.Clone(x.Base.Arms), func(arm string) bool { return arm == condition.TheLink })
	if len(x.Base.At) == 0 {
		for _, arm := range base {
			if slices.Contains(left, arm) {
				return arm + " is compared with itself; expected another arm, or levels of its own on either side"
			}
		}
		left = slices.Concat(left, base)
	}
	for _, of := range []struct {
		levels map[string]string
		arms   []string
	}{{x.At, left}, {x.Base.At, base}, {x.Against, left}} {
		if _, text := c.Where(of.levels, of.arms); text != "" {
			return text
		}
	}
	return ""
}

// SetLadders gives the study ladders that its scope has checked.
func (s *Study) SetLadders(ladders []record.Ladder) { s.Ladders = s.withChanges(ladders) }

// withChanges says of every step in what its two arms differ.
func (s *Study) withChanges(ladders []record.Ladder) []record.Ladder {
	out := slices.Clone(ladders)
	for i, l := range out {
		out[i].Steps = slices.Clone(l.Steps)
		for k := range l.Steps {
			out[i].Steps[k].Changes = s.changes(l.Arms[k], l.Arms[k+1])
		}
	}
	return out
}

// changes lists the factors in which two levels of the compared factor differ:
// itself, or what two arms bundle.
func (s *Study) changes(from, to string) []string {
	a, b := s.armNamed(from), s.armNamed(to)
	if s.Compare.Factor != ArmFactor || a == nil || b == nil {
		return []string{s.Compare.Factor}
	}
	return differing(a.treatment(), b.treatment())
}

func (s *Study) armNamed(name string) *Arm { return s.whole().bundle(name) }
