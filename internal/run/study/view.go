package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// What charts, fits and searches may ask of a study: its trials' factors and levels.

// trialLevels returns the levels that a factor has in an arm's trials. The
// ends of a transport are the transport.
func (s *Study) trialLevels(arm *Arm, factor string) []Level {
	levels := s.choices(arm, factor)
	if levels == nil && (factor == "server" || factor == "client") {
		levels = s.choices(arm, "transport")
	}
	return levels
}

// allLevels returns the levels of a factor over all trials.
func (s *Study) allLevels(factor string) []Level {
	var all []Level
	for _, d := range s.designs() {
		for _, arm := range d.armsOrNone() {
			for _, l := range d.trialLevels(arm, factor) {
				if !hasText(all, l.Text) {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// named lists the factors that the study itself names, as trials have them:
// "arm" and "transport" are unfolded in these.
func (s *Study) named() []string {
	names := map[string]bool{}
	add := func(factor string) {
		switch factor {
		case armFactor:
		case "transport":
			names["server"], names["client"] = true, true
		default:
			names[factor] = true
		}
	}
	for _, d := range s.designs() {
		for _, h := range d.Hold {
			add(h.Factor)
		}
		for _, v := range d.Vary {
			add(v.Factor)
		}
		for _, a := range d.Arms {
			for _, x := range a.Settings {
				add(x.Factor)
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// factorProblem says why a view cannot have a line, or a mark, for each level
// of a factor; "" when it can.
func (s *Study) factorProblem(factor string) string {
	if names := s.named(); !slices.Contains(names, factor) {
		return fmt.Sprintf("the study neither varies nor holds %q; %s", clip(factor, 80), quantity.Hint(factor, names))
	}
	return ""
}

// axisProblem says why a factor cannot be an axis or a term, which need
// numbers; "" when it can.
func (s *Study) axisProblem(factor string) string {
	if text := s.factorProblem(factor); text != "" {
		return text
	}
	for _, l := range s.allLevels(factor) {
		if !numeric(l.Text) {
			return fmt.Sprintf("%s has the level %q; expected a factor whose levels are numbers", factor, clip(l.Text, 80))
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

// whereProblem says why no trial has the levels to which a view is confined;
// "" when one has.
func (s *Study) whereProblem(where map[string]string, arms []string) (key, text string) {
	for _, factor := range sortedKeys(where) {
		levels := s.allLevels(factor)
		if hasText(levels, where[factor]) {
			continue
		}
		if len(levels) == 0 {
			return "where", fmt.Sprintf("no trial has the factor %q; %s", factor, quantity.Hint(factor, s.named()))
		}
		var texts []string
		for _, l := range levels {
			texts = append(texts, l.Text)
		}
		return "where", fmt.Sprintf("%s: no trial has the level %q; %s", factor, clip(where[factor], 80), quantity.Hint(where[factor], texts))
	}
	for _, d := range s.designs() {
		for _, arm := range d.armsOrNone() {
			if d.meets(arm, where) && (len(arms) == 0 || arm == nil || s.Compare.Factor != armFactor || slices.Contains(arms, arm.Name)) {
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

// meets reports whether an arm has a trial in this design at these levels.
func (s *Study) meets(arm *Arm, where map[string]string) bool {
	for factor, text := range where {
		if !hasText(s.trialLevels(arm, factor), text) {
			return false
		}
	}
	return true
}

// maxViews bounds each list of charts, fits or searches.
const maxViews = 100

// views reads a list of charts, fits or searches, each with some of the keys.
func views[V any](tree *node, key string, keys []string, read func(*node) (V, error)) ([]V, error) {
	e := tree.get(key)
	if e == nil {
		return nil, nil
	}
	if e.value.kind != list || len(e.value.items) > maxViews {
		return nil, e.value.at.errorf("%s: expected a list of at most %d, each with %s", key, maxViews, strings.Join(keys, ", "))
	}
	for _, item := range e.value.items {
		if err := item.mappingOf(keys); err != nil {
			return nil, err
		}
	}
	var all []V
	for _, item := range e.value.items {
		v, err := read(item)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

// factors reads a list of 1 to most names of factors.
func (n *node) factors(key string, most int) ([]string, error) {
	items := listed(n.get(key).value)
	if len(items) == 0 || len(items) > most {
		return nil, n.placeOf(key).errorf("%s: expected a list of 1 to %d factors", key, most)
	}
	var names []string
	for _, item := range items {
		if item.kind != scalar {
			return nil, item.at.errorf("%s: found %s; expected a factor", key, item.kind)
		}
		names = append(names, item.text)
	}
	return names, nil
}

// keepViews takes over those charts, fits and searches of the original study
// that still ask for what this one has.
func (s *Study) keepViews(original *Study) {
	var charts []record.Chart
	for _, c := range original.Charts {
		if len(c.Arms) > 0 {
			arms := factorOf(s.compared()).Levels
			c.Arms = slices.DeleteFunc(slices.Clone(c.Arms), func(name string) bool { return !slices.Contains(arms, name) })
			if len(c.Arms) == 0 {
				continue // empty would mean all
			}
		}
		charts = append(charts, c)
	}
	s.Charts = sound(charts, s.chartProblem)
	s.Fits = sound(original.Fits, s.fitProblem)
	s.Reaches = sound(original.Reaches, s.reachProblem)
}

// sound returns the views that have no problem.
func sound[V any](views []V, problem func(V) (key, text string)) []V {
	return slices.DeleteFunc(slices.Clone(views), func(v V) bool {
		_, text := problem(v)
		return text != ""
	})
}
