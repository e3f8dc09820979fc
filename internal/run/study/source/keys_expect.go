package source

import (
	"fmt"
	"math"

	"netdyno/internal/condition"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

const (
	maxExpected   = 1000 // statements
	maxRequires   = 100  // bounds that must hold: they share one level
	maxConditions = 20   // of a statement
)

// expectForm is what a study may expect, for errors.
const expectForm = "bounds that must hold, each METRIC of ARM <= BOUND, and statements, each a mapping with that"

// expectKey is the key of what a study expects: lines, which are bounds that must hold, and
// mappings, which are statements. Lines are read with the study, as they can be typed
// (require=, as expect= is a factor); statements when it is complete.
func expectKey() key[study.Study] {
	k := blocksOf("expect", length{0, maxExpected}, expectBlock, func(s *study.Study) *[]record.Expectation { return &s.Expect },
		"what is expected of the results: lines are bounds that must hold, such as 'response_p99_us of go-net <= 5ms', mappings are statements that are put to the test").typing("require")
	k.form, k.many, k.always = "a list of conditions", true, true
	statements, write := k.read, k.write
	k.read = func(e entry, s *study.Study, w whole) error {
		if e.value.kind == mapping {
			return e.value.at.errorf("expect: found %s; expected a list of %s", e.value.kind, expectForm)
		}
		lines, mappings := &node{at: e.value.at, kind: list}, &node{at: e.value.at, kind: list}
		for _, item := range listed(e.value) {
			switch item.kind {
			case scalar:
				lines.items = append(lines.items, item)
			default:
				mappings.items = append(mappings.items, item)
			}
		}
		if w.scope != nil {
			return statements(entry{e.key, e.at, mappings}, s, w)
		}
		var err error
		s.Requires, err = someRequires.read(entry{e.key, e.at, lines})
		return err
	}
	k.write = func(s *study.Study) *node {
		n := &node{kind: list}
		for _, part := range []*node{someRequires.write(s.Requires), write(s)} {
			if part != nil {
				n.items = append(n.items, part.items...)
			}
		}
		if len(n.items) == 0 {
			return nil
		}
		return n
	}
	return k
}

// someRequires are bounds that must hold. Whether the study has what they name is not asked.
var someRequires = several(length{0, maxRequires}, fmt.Sprintf("at most %d lines, each METRIC of ARM <= BOUND or >= BOUND", maxRequires), "METRIC of ARM <= BOUND or >= BOUND",
	func(text string, _ []record.Require) (record.Require, error) { return readRequire(text) },
	func(r record.Require) string { return r.Text })

// parsed reads a condition with the levels of factors in canonical text.
func parsed(text string) (condition.Condition, error) {
	if err := study.CheckText(text); err != nil {
		return condition.Condition{}, err
	}
	return condition.Parse(text, func(factor, level string) (string, error) {
		f, err := study.FactorNamed(factor)
		if err != nil {
			return "", err
		}
		l, err := f.Level(level)
		return l.Text, err
	})
}

// readRequire reads a bound that must hold.
func readRequire(text string) (record.Require, error) {
	c, err := parsed(text)
	switch {
	case err != nil:
		return record.Require{}, err
	case !c.IsBound():
		return record.Require{}, fmt.Errorf("%s is no bound on one arm; expected METRIC of ARM <= BOUND or >= BOUND, a number, a quantity such as 5ms or a multiple such as 1.2 × ARM, or a mapping with that: %s",
			quantity.Clip(text, 80), quantity.Clip(text, 80))
	case !(c.Size > 0) || math.IsInf(c.Size, 1):
		return record.Require{}, fmt.Errorf("the bound of %q is not above 0, where every figure lies", quantity.Clip(text, 80))
	}
	r := record.Require{Text: c.String(), Metric: c.Metric, Arm: c.Of.Arms[0], AtLeast: c.Is == condition.AtLeast, Bound: c.Size, Where: c.At}
	if len(c.Base.Arms) > 0 {
		r.Base = c.Base.Arms[0]
	}
	return r, nil
}

var expectBlock = block[record.Expectation]{
	name: "expect",
	keys: []key[record.Expectation]{
		keyOf("title", aText, func(x *record.Expectation) *string { return &x.Title }, "a sentence that is true or not; a question stands on the first screen. The conditions themselves unless given"),
		keyOf("source", aText, func(x *record.Expectation) *string { return &x.Source }, "the publication; none of a statement of your own"),
		keyOf("unmeasured", aText, func(x *record.Expectation) *string { return &x.Unmeasured }, "why no arm of the study can test it, in place of that"),
		underKey(func(x *record.Expectation) *map[string]string { return &x.Under }, "conditions that it is about: it is tested in the cells that meet them"),
		keyOf("that", thatConditions, func(x *record.Expectation) *[]string { return &x.That }, "one condition, or several that must all hold"),
	},
	check: func(n *node, x *record.Expectation, _ whole) error {
		switch e := n.entryOf("that"); {
		case x.Unmeasured != "" && e != nil:
			return e.at.errorf("that: what no arm can test has no conditions; leave out that, or unmeasured")
		case x.Unmeasured == "" && e == nil:
			return n.at.errorf(`expect: the key "that" is missing; expected a condition, or unmeasured: why no arm can test it`)
		case x.Unmeasured != "" && x.Title == "":
			return n.at.errorf(`expect: the key "title" is missing; expected what it is that no arm can test`)
		}
		return nil
	},
	rule: func(c study.Scope, x record.Expectation) (key, text string) {
		for _, text := range x.That {
			one, err := parsed(text)
			if err != nil {
				return "that", err.Error()
			}
			if problem := c.Condition(one); problem != "" {
				return "that", problem
			}
		}
		return "", ""
	},
}

// thatConditions are those of a statement, in canonical text.
var thatConditions = several(length{1, maxConditions}, fmt.Sprintf("a condition, or a list of at most %d", maxConditions), "a condition such as METRIC of ARM > ARM",
	func(text string, _ []string) (string, error) {
		c, err := parsed(text)
		return c.String(), err
	}, asIs)
