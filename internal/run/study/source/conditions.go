package source

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"netdyno/internal/condition"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

const (
	maxRequires   = 100 // bounds that must hold: they share one level
	maxConditions = 20  // of a statement
	maxBounds     = 8   // of metrics that are kept within limits at once

	// boundForm is what one condition of an objective looks like, for errors.
	boundForm = "METRIC <= BOUND or METRIC >= BOUND, such as response_p99 <= 10ms"
)

// expectations are what a study expects: lines, which are bounds that must hold, and
// mappings, which are statements.
func expectations(l length) kind {
	statements := blocksOf(l)
	return kind{
		form: "a list of conditions", many: true,
		read: func(e entry, f field) error {
			if e.value.kind == mapping {
				return e.value.at.errorf("expect: found %s; expected a list of bounds that must hold, each METRIC of ARM <= BOUND, and statements, each a mapping with that", e.value.kind)
			}
			lines, mappings := apart(e.value)
			if err := someRequires.read(entry{e.key, e.at, lines}, field{at: reflect.ValueOf(&f.of.(*study.Study).Requires).Elem()}); err != nil || len(mappings.items) == 0 {
				return err
			}
			return statements.read(entry{e.key, e.at, mappings}, f)
		},
		write: func(f field) *node {
			var items []*node
			for _, part := range []*node{someRequires.write(field{at: reflect.ValueOf(&f.of.(*study.Study).Requires).Elem()}), statements.write(f)} {
				if part != nil {
					items = append(items, part.items...)
				}
			}
			return listNode(items)
		},
	}
}

// apart parts what is expected into lines and statements.
func apart(expected *node) (lines, statements *node) {
	lines, statements = &node{at: expected.at, kind: list}, &node{at: expected.at, kind: list}
	for _, item := range listed(expected) {
		if item.kind == scalar {
			lines.items = append(lines.items, item)
		} else {
			statements.items = append(statements.items, item)
		}
	}
	return lines, statements
}

var (
	// someRequires are bounds that must hold. Whether the study has what they name is not asked.
	someRequires = several(length{0, maxRequires}, fmt.Sprintf("at most %d lines, each METRIC of ARM <= BOUND or >= BOUND", maxRequires), "METRIC of ARM <= BOUND or >= BOUND",
		readRequire, func(r record.Require) string { return r.Text })

	// thatConditions are those of a statement, in canonical text.
	thatConditions = several(length{1, maxConditions}, fmt.Sprintf("a condition, or a list of at most %d", maxConditions), "a condition such as METRIC of ARM > ARM",
		func(text string) (string, error) {
			c, err := parsed(text)
			return c.String(), err
		}, asIs)

	someBounds = boundsOf(several(length{1, maxBounds}, fmt.Sprintf("1 to %d conditions, each %s", maxBounds, boundForm), boundForm,
		readBound, func(b record.Bound) string { return b.Text }))
)

// boundsOf are the conditions of an objective, also several in one text with commas
// between them.
func boundsOf(k kind) kind {
	read := k.read
	k.read = func(e entry, f field) error {
		if e.value.kind == scalar {
			e.value = levelsNode(e.value.at, e.value.text)
		}
		return read(e, f)
	}
	return k
}

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

// readBound reads METRIC <= BOUND or METRIC >= BOUND, which names no arm, in the direction
// in which a figure gets worse.
func readBound(text string) (b record.Bound, err error) {
	form := fmt.Errorf("found %q; expected %s", quantity.Clip(text, 80), boundForm)
	c, err := parsed(text)
	switch {
	case err != nil && !strings.ContainsAny(text, "<>≤≥"):
		return b, form
	case err != nil:
		return b, err
	}
	bare := condition.Condition{Metric: c.Metric, Is: c.Is, Size: c.Size, Bound: c.Bound, Base: c.Base, Margin: c.Margin}
	m, err := metric.Named(c.Metric)
	if err != nil || c.String() != bare.String() || c.Is != condition.AtMost && c.Is != condition.AtLeast {
		return b, form
	}
	if len(c.Base.Arms) > 0 { // what is no bound reads as an arm
		if _, err := condition.BoundOf(m, strings.Join(c.Base.Arms, ", ")); err != nil {
			return b, err
		}
		return b, form
	}
	b = record.Bound{Text: strings.Join(strings.Fields(text), " "), Metric: m.Name, AtLeast: c.Is == condition.AtLeast, Value: c.Size}
	switch {
	case m.Better == "":
		err = fmt.Errorf("neither more nor less of %s is better; expected a metric such as response_p99, error_share or goodput_bytes_per_s", m.Name)
	case m.Better == metric.Lower && b.AtLeast:
		err = fmt.Errorf("less of %s is better; expected <=", m.Name)
	case m.Better == metric.Higher && !b.AtLeast:
		err = fmt.Errorf("more of %s is better; expected >=", m.Name)
	}
	return b, err
}

// conditionsOf are the conditions that a statement is under, in canonical text: levels of
// factors, or of the conditions that package record names.
var conditionsOf = kindOfValue("a mapping from conditions to levels", func(e entry) (map[string]string, error) {
	if e.value.kind != mapping {
		return nil, e.value.at.errorf("under: found %s; expected a mapping from conditions to levels", e.value.kind)
	}
	under := map[string]string{}
	for _, one := range e.value.entries {
		factors, level, err := readUnder(one)
		if err != nil {
			return nil, err
		}
		for _, factor := range factors {
			under[factor] = level
		}
	}
	if len(under) == 0 {
		return nil, nil
	}
	return under, nil
}, func(under map[string]string) *node { return mapNode(under, textNode) })

// readUnder reads one condition: the factors that the condition sets and their level in
// canonical text. There are two factors where one key stands for two, as transport does
// for server and client.
func readUnder(e entry) (factors []string, level string, err error) {
	if e.value.kind == scalar {
		switch e.key {
		case record.ConditionRig, record.ConditionLimit:
			known := map[string][]string{record.ConditionRig: record.RigKinds(), record.ConditionLimit: append(record.Limits(), record.LimitCPU)}[e.key]
			if !slices.Contains(known, e.value.text) {
				return nil, "", e.value.at.errorf("%s: unknown level %q; %s", e.key, quantity.Clip(e.value.text, 80), quantity.Hint(e.value.text, known))
			}
			return []string{e.key}, e.value.text, nil
		case record.ConditionHosts:
			if !hostsForm.MatchString(e.value.text) {
				return nil, "", e.value.at.errorf("hosts: %q is not a number of hosts; expected 2, or 2+ for two or more", quantity.Clip(e.value.text, 40))
			}
			return []string{e.key}, e.value.text, nil
		}
	}
	if _, err := study.FactorNamed(e.key); err != nil && !strings.HasPrefix(e.key, study.OptionPrefix) && !isKey(e.key) {
		return nil, "", e.at.errorf("under: unknown condition %q; %s", quantity.Clip(e.key, 80), quantity.Hint(e.key, conditionNames()))
	}
	set, err := readSetting(e, "under")
	if err != nil {
		return nil, "", err
	}
	if set.Factor == "transport" {
		return []string{"server", "client"}, set.Level.Text, nil
	}
	return []string{set.Factor}, set.Level.Text, nil
}

var hostsForm = regexp.MustCompile(`^[1-9][0-9]{0,6}\+?$`)

// conditionNames are the names that a condition may have.
func conditionNames() []string {
	names := []string{record.ConditionRig, record.ConditionHosts, record.ConditionLimit}
	for _, f := range study.Factors() {
		if f.Kind != study.Bundle && !strings.HasPrefix(f.Name, study.OptionPrefix) {
			names = append(names, f.Name)
		}
	}
	return append(names, "opt.NAME")
}
