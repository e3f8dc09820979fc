package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
)

// Scope is what a study's trials have: the arms, factors and levels of which
// charts, fits, reaches, claims and requirements may speak. Its methods say why
// something asks for what no trial has, and some of them which key does; all is ""
// for a sound one.
type Scope struct {
	compared string
	arms     []string // levels of the compared factor
	designs  []*design
	searches bool // for a capacity: its trials get rates while it runs
}

// Scope returns what may be asked of the study.
func (s *Study) Scope() Scope {
	return Scope{compared: s.Compare.Factor, arms: factorOf(s.Compared()).Levels, designs: s.designs(), searches: s.Capacity != nil}
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

// named lists the factors that the study itself names, as trials have them:
// "arm" and "transport" are unfolded in these.
func (c Scope) named() []string {
	names := map[string]bool{}
	add := func(factor string) {
		switch factor {
		case ArmFactor:
		case "transport":
			names["server"], names["client"] = true, true
		default:
			names[factor] = true
		}
	}
	for _, d := range c.designs {
		for _, h := range d.hold {
			add(h.Factor)
		}
		for _, v := range d.vary {
			add(v.Factor)
		}
		for _, a := range d.arms {
			for _, x := range a.Settings {
				add(x.Factor)
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

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
	if names := c.named(); !slices.Contains(names, factor) {
		return fmt.Sprintf("the study neither varies nor holds %q; %s", quantity.Clip(factor, 80), quantity.Hint(factor, names))
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
			return "where", fmt.Sprintf("no trial has the factor %q; %s", factor, quantity.Hint(factor, c.named()))
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
	var parts []string
	for _, factor := range sortedKeys(where) {
		parts = append(parts, factor+"="+cellText(where[factor]))
	}
	return "where", "no trial has " + strings.Join(parts, " and ") + " at once"
}

// Arm says that no arm has a name; "" when one has.
func (c Scope) Arm(name string) string {
	if slices.Contains(c.arms, name) {
		return ""
	}
	return unknown("level of "+c.compared, name, c.arms)
}

// MetricNames returns the name of every metric.
func MetricNames() []string {
	var names []string
	for _, m := range metric.All() {
		names = append(names, m.Name)
	}
	return names
}

func unknown(what, name string, names []string) string {
	return fmt.Sprintf("unknown %s %q; %s", what, quantity.Clip(name, 80), quantity.Hint(name, names))
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
