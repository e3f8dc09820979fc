package source

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// maxRequires bounds a study's requirements: they share one level.
const maxRequires = 100

// requireForm is what a requirement looks like, for errors.
const requireForm = "METRIC of ARM <= BOUND or >= BOUND, where BOUND is a number, a quantity such as 5ms or a multiple such as 1.2 x ARM, " +
	"and perhaps then: where FACTOR=LEVEL"

// requireLine takes a requirement apart: metric, arm, comparison, bound,
// conditions. Arms may be paths, which have no spaces around an operator.
var requireLine = regexp.MustCompile(`^(\S+) of (.+?) (<=|>=|≤|≥) (.+?)(?: where (.+))?$`)

// multiple is a bound that is a number of times another arm's value.
var multiple = regexp.MustCompile(`^(\S+) ?[x×] (.+)$`)

// someRequires are requirements. Whether the study has what they name is not asked.
var someRequires = several(length{0, maxRequires}, fmt.Sprintf("a list of at most %d lines, each %s", maxRequires, requireForm), requireForm,
	func(text string, _ []record.Require) (record.Require, error) { return readRequire(text) },
	func(r record.Require) string { return r.Text })

// readRequire takes one line apart.
func readRequire(text string) (record.Require, error) {
	var r record.Require
	if err := study.CheckText(text); err != nil {
		return r, err
	}
	text = strings.Join(strings.Fields(text), " ")
	part := requireLine.FindStringSubmatch(text)
	if part == nil {
		return r, fmt.Errorf("found %q; expected %s", quantity.Clip(text, 80), requireForm)
	}
	m, err := metricOf(part[1])
	if err != nil {
		return r, err
	}
	r = record.Require{Text: text, Metric: m.Name, Arm: part[2], AtLeast: atLeast(part[3])}
	if times := multiple.FindStringSubmatch(part[4]); times != nil {
		r.Base = times[2]
		r.Bound, err = strconv.ParseFloat(times[1], 64)
	} else {
		r.Bound, err = boundOf(m, part[4])
	}
	switch {
	case err != nil && r.Base != "":
		return r, fmt.Errorf("%q is not a multiple; expected a number, such as 1.2 x %s", quantity.Clip(part[4], 40), quantity.Clip(r.Base, 40))
	case err != nil:
		return r, err
	case !(r.Bound > 0) || math.IsInf(r.Bound, 1):
		return r, fmt.Errorf("the bound %q is not above 0, where every figure lies", quantity.Clip(part[4], 40))
	}
	r.Where, err = conditions(part[5])
	return r, err
}

// boundOf reads a bound in the metric's unit: a plain number of it, or a
// quantity.
func boundOf(m metric.Metric, text string) (float64, error) {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x, nil
	}
	var x float64
	var err error
	switch m.Unit {
	case "µs", "s":
		d, failed := quantity.ParseDuration(text)
		if x, err = d.Seconds(), failed; m.Unit == "µs" {
			x = float64(d) / 1e3
		}
	case "B":
		n, failed := quantity.ParseBytes(text)
		x, err = float64(n), failed
	case "B/s":
		n, failed := quantity.ParseBytes(strings.TrimSuffix(text, "/s"))
		x, err = float64(n), failed
	case "1/s":
		x, err = quantity.ParseRate(strings.TrimSuffix(text, "/s"))
	case "share":
		x, err = quantity.ParseShare(text)
	default:
		err = fmt.Errorf("%q is not a number", quantity.Clip(text, 40))
	}
	if err != nil {
		return 0, fmt.Errorf("the bound of %s: %w; it is in %s", m.Name, err, m.Unit)
	}
	return x, nil
}

// conditions reads FACTOR=LEVEL, several joined by "and".
func conditions(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	where := map[string]string{}
	for _, one := range strings.Split(text, " and ") {
		name, level, ok := strings.Cut(one, "=")
		if !ok {
			return nil, fmt.Errorf("where: found %q; expected FACTOR=LEVEL, several joined by and", quantity.Clip(one, 80))
		}
		f, err := study.FactorNamed(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("where: %w", err)
		}
		l, err := f.Level(strings.TrimSpace(level))
		if err != nil {
			return nil, fmt.Errorf("where: %w", err)
		}
		where[f.Name] = l.Text
	}
	return where, nil
}

const (
	maxBounds = 8 // of metrics that are kept within limits at once

	// conditionForm is what one condition of an objective looks like, for errors.
	conditionForm = "METRIC <= BOUND or METRIC >= BOUND, such as response_p99 <= 10ms"
)

var conditionLine = regexp.MustCompile(`^(\S+?) ?(<=|>=|≤|≥) ?(.+)$`)

func atLeast(sign string) bool { return sign == ">=" || sign == "≥" }

// someConditions are the conditions of an objective, also several in one text with
// commas between them.
var someConditions = func() kind[[]record.Bound] {
	k := several(length{1, maxBounds}, fmt.Sprintf("1 to %d conditions, each %s", maxBounds, conditionForm), conditionForm,
		func(text string, _ []record.Bound) (record.Bound, error) { return readCondition(text) },
		func(b record.Bound) string { return b.Text })
	read := k.read
	k.read = func(e entry) ([]record.Bound, error) {
		apart := *e.value
		apart.items = nil
		for _, item := range listed(e.value) {
			if item.kind == scalar {
				apart.kind = list
				apart.items = append(apart.items, levelsNode(item.at, item.text).items...)
			} else {
				apart.items = append(apart.items, item)
			}
		}
		return read(entry{e.key, e.at, &apart})
	}
	return k
}()

// readCondition reads one condition. A metric may be named without its unit. Its
// direction must be that in which a figure gets worse.
func readCondition(text string) (record.Bound, error) {
	var b record.Bound
	if err := study.CheckText(text); err != nil {
		return b, err
	}
	text = strings.Join(strings.Fields(text), " ")
	part := conditionLine.FindStringSubmatch(text)
	if part == nil {
		return b, fmt.Errorf("found %q; expected %s", quantity.Clip(text, 80), conditionForm)
	}
	name := part[1]
	if _, err := metric.Named(name); err != nil {
		if _, err := metric.Named(name + "_us"); err == nil {
			name += "_us"
		}
	}
	m, err := metricOf(name)
	if err != nil {
		return b, err
	}
	b = record.Bound{Text: text, Metric: m.Name, AtLeast: atLeast(part[2])}
	switch {
	case m.Better == "":
		return b, fmt.Errorf("neither more nor less of %s is better; expected a metric such as response_p99, error_share or goodput_bytes_per_s", m.Name)
	case m.Better == metric.Lower && b.AtLeast:
		return b, fmt.Errorf("less of %s is better; expected %s <= %s", m.Name, part[1], part[3])
	case m.Better == metric.Higher && !b.AtLeast:
		return b, fmt.Errorf("more of %s is better; expected %s >= %s", m.Name, part[1], part[3])
	}
	if b.Value, err = boundOf(m, part[3]); err != nil {
		return b, err
	}
	if !(b.Value >= 0) {
		return b, fmt.Errorf("the bound %q is below 0, where no figure lies", quantity.Clip(part[3], 40))
	}
	return b, nil
}

// someBounds are METRIC: BOUND.
var someBounds = kind[[]record.Bound]{
	form: "a mapping from metrics to bounds",
	read: func(e entry) (all []record.Bound, err error) {
		form := fmt.Sprintf("1 to %d metrics, each with its bound, such as {server.rss_bytes: 200MB}", maxBounds)
		err = e.each(length{1, maxBounds}, form, func(one entry) error {
			text, err := one.scalarOf("a bound, such as 200MB")
			if err != nil {
				return err
			}
			m, err := metricOf(one.key)
			if err != nil {
				return one.at.errorf("%s: %s", e.key, err)
			}
			b, err := keptBound(m, text)
			if err != nil {
				return one.value.at.errorf("%s: %s", e.key, err)
			}
			all = append(all, b)
			return nil
		})
		return all, err
	},
	write: func(all []record.Bound) *node {
		if len(all) == 0 {
			return nil
		}
		n := &node{kind: mapping}
		for _, b := range all {
			n.entries = append(n.entries, entry{key: b.Metric, value: scalarNode(position{}, b.Text)})
		}
		return n
	},
}

// keptBound reads the bound of a metric. More than the bound is too much of a metric of
// which less is better; of the others less than the bound is too little.
func keptBound(m metric.Metric, text string) (record.Bound, error) {
	b := record.Bound{Text: quantity.Clip(text, 40), Metric: m.Name, AtLeast: m.Better == metric.Higher}
	var err error
	if b.Value, err = boundOf(m, text); err == nil && (!(b.Value > 0) || math.IsInf(b.Value, 1)) {
		err = fmt.Errorf("the bound %q is not above 0, where every figure lies", b.Text)
	}
	return b, err
}

// typedBound reads a bound as it is typed: METRIC <= VALUE or METRIC >= VALUE.
func typedBound(text string) (b record.Bound, err error) {
	part := conditionLine.FindStringSubmatch(strings.TrimSpace(text))
	if part == nil {
		return b, fmt.Errorf("within: found %q; expected METRIC <= VALUE or METRIC >= VALUE, such as server.rss_bytes <= 2GB", quantity.Clip(text, 80))
	}
	m, err := metricOf(part[1])
	if err == nil {
		b, err = keptBound(m, part[3])
	}
	switch {
	case err != nil:
		return b, fmt.Errorf("within: %w", err)
	case b.AtLeast != atLeast(part[2]):
		return b, fmt.Errorf("within: %q bounds %s on its better side; expected the other sign", text, b.Metric)
	}
	return b, nil
}
