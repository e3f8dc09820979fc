package source

import (
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// maxAlso bounds the further comparisons of a study: all share one level.
const maxAlso = 20

var (
	compareKeys = []string{"factor", "baseline", "primary", "margin", "also"}
	alsoKeys    = []string{"arm", "base"}
)

// words is a text as it was written.
type words struct {
	at   position
	text string
}

// comparison is what a study says of what it compares; a field is nil, and also
// empty, where it says nothing.
type comparison struct {
	factor, baseline *words
	primary          []words
	margin           *float64
	also             []alsoPair

	// mayReplace says that a primary metric which the changed study lacks gives way
	// to another: the file named it, and an argument took the rate away.
	mayReplace bool
}

// alsoPair is a further pair of arms to compare.
type alsoPair struct {
	arm, base words
	at        position
}

// take reads one key of the comparison.
func (c *comparison) take(e entry) error {
	switch e.key {
	case "factor":
		return e.wordsInto(&c.factor, "one of the varied factors")
	case "baseline":
		return e.wordsInto(&c.baseline, "the arm that the others are compared with")
	case "primary":
		return c.takePrimary(e)
	case "margin":
		text, err := e.scalarOf("a share such as 2%")
		if err != nil {
			return err
		}
		margin, err := quantity.ParseShare(text)
		if err != nil {
			return e.value.at.errorf("margin: %s", err)
		}
		c.margin = &margin
	case "also":
		return c.takeAlso(e)
	}
	return nil
}

func (e *entry) wordsInto(into **words, expected string) error {
	text, err := e.scalarOf(expected)
	*into = &words{e.value.at, text}
	return err
}

func (c *comparison) takePrimary(e entry) error {
	items := listed(e.value)
	if len(items) == 0 {
		return e.value.at.errorf("primary: expected a list of metrics")
	}
	c.primary = nil
	for _, item := range items {
		switch {
		case item.kind != scalar:
			return item.at.errorf("primary: found %s; expected a metric's name", item.kind)
		case !slices.Contains(study.MetricNames(), item.text):
			return item.at.errorf("primary: unknown metric %q; %s", quantity.Clip(item.text, 80), quantity.Hint(item.text, study.MetricNames()))
		case slices.ContainsFunc(c.primary, func(w words) bool { return w.text == item.text }):
			return item.at.errorf("primary: %s is listed twice", item.text)
		}
		c.primary = append(c.primary, words{item.at, item.text})
	}
	return nil
}

// takeAlso reads the pairs of arms that are compared besides every arm with the
// baseline.
func (c *comparison) takeAlso(e entry) error {
	if e.value.kind != list || len(e.value.items) > maxAlso {
		return e.value.at.errorf("also: found %s; expected a list of at most %d pairs, each with arm and base", counted(e.value), maxAlso)
	}
	for _, item := range e.value.items {
		if err := item.mappingOf(alsoKeys); err != nil {
			return err
		}
		p := alsoPair{at: item.at}
		if err := item.texts("also", map[string]*string{"arm": &p.arm.text, "base": &p.base.text}, "arm", "base"); err != nil {
			return err
		}
		p.arm.at, p.base.at = item.positionOf("arm"), item.positionOf("base")
		c.also = append(c.also, p)
	}
	return nil
}

// changeBy lays what was typed over what a file says.
func (c *comparison) changeBy(typed comparison) {
	c.mayReplace = typed.primary == nil
	if typed.factor != nil {
		c.factor = typed.factor
	}
	if typed.baseline != nil {
		c.baseline = typed.baseline
	}
	if typed.primary != nil {
		c.primary = typed.primary
	}
	if typed.margin != nil {
		c.margin = typed.margin
	}
}

// apply makes the comparison a complete study's.
func (c *comparison) apply(s *study.Study) error {
	if c.factor != nil {
		if !s.Varies(c.factor.text) {
			var names []string
			for _, v := range s.Vary {
				names = append(names, v.Factor)
			}
			return c.factor.at.errorf("compare: %q does not vary; %s", quantity.Clip(c.factor.text, 80), quantity.Hint(c.factor.text, names))
		}
		s.Compare.Factor = c.factor.text
		if err := s.CheckCompared(); err != nil {
			return err
		}
	}
	if err := c.applyBaseline(s); err != nil {
		return err
	}
	if err := c.applyPrimary(s); err != nil {
		return err
	}
	if c.margin != nil {
		s.Compare.Margin = *c.margin
	}
	return c.applyAlso(s)
}

func (c *comparison) applyBaseline(s *study.Study) error {
	v := s.Compared()
	s.Compare.Baseline = v.Levels[0].Text
	if c.baseline == nil {
		return nil
	}
	text := c.baseline.text
	if f, err := study.FactorNamed(v.Factor); err == nil && f.Kind != study.Bundle {
		if l, err := f.Level(text); err == nil {
			text = l.Text
		}
	}
	if arms := s.Scope().Arms(); !slices.Contains(arms, text) {
		return c.baseline.at.errorf("baseline: %s has no level %q; %s", v.Factor, quantity.Clip(text, 80), quantity.Hint(text, arms))
	}
	s.Compare.Baseline = text
	return nil
}

func (c *comparison) applyPrimary(s *study.Study) error {
	if c.primary == nil {
		return nil
	}
	open := s.Scope().Open()
	var names []string
	for _, w := range c.primary {
		if strings.HasPrefix(w.text, study.ResponsePrefix) && !open && !c.mayReplace {
			return w.at.errorf("primary: %s", study.OpenLoopOnly(w.text))
		}
		names = append(names, w.text)
	}
	s.KeepPrimary(names)
	return nil
}

func (c *comparison) applyAlso(s *study.Study) error {
	arms := s.Scope().Arms()
	for _, p := range c.also {
		for _, end := range []struct {
			key  string
			name words
		}{{"arm", p.arm}, {"base", p.base}} {
			if !slices.Contains(arms, end.name.text) {
				return end.name.at.errorf("%s: unknown level of %s %q; %s", end.key, s.Compare.Factor, quantity.Clip(end.name.text, 80), quantity.Hint(end.name.text, arms))
			}
		}
		pair := record.Pair{Arm: p.arm.text, Base: p.base.text}
		switch {
		case pair.Arm == pair.Base:
			return p.at.errorf("also: %s is compared with itself; expected two arms", pair.Arm)
		case pair.Base == s.Compare.Baseline, pair.Arm == s.Compare.Baseline:
			return p.at.errorf("also: every arm is compared with the baseline %s anyway; expected two other arms", s.Compare.Baseline)
		case slices.ContainsFunc(s.Compare.Also, func(o record.Pair) bool { return o == pair || o == record.Pair{Arm: pair.Base, Base: pair.Arm} }):
			return p.at.errorf("also: %s and %s are compared twice", pair.Arm, pair.Base)
		}
		s.Compare.Also = append(s.Compare.Also, pair)
	}
	return nil
}
