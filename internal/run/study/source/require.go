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
	"and at the end perhaps: where FACTOR=LEVEL"

// requireLine takes a requirement apart: metric, arm, comparison, bound,
// conditions. Arms may be paths, which have no spaces around an operator.
var requireLine = regexp.MustCompile(`^(\S+) of (.+?) (<=|>=|≤|≥) (.+?)(?: where (.+))?$`)

// multiple is a bound that is a number of times another arm's value.
var multiple = regexp.MustCompile(`^(\S+) ?[x×] (.+)$`)

// requirement is one requirement, and where it was written.
type requirement struct {
	at position
	record.Require
}

// readRequires reads the requirements. Whether the study has what they name is
// not asked.
func readRequires(e entry) ([]requirement, error) {
	items := listed(e.value)
	if e.value.kind == mapping || len(items) > maxRequires {
		return nil, e.value.at.errorf("require: found %s; expected a list of at most %d lines, each %s", counted(e.value), maxRequires, requireForm)
	}
	all := []requirement{}
	for _, item := range items {
		if item.kind != scalar {
			return nil, item.at.errorf("require: found %s; expected %s", item.kind, requireForm)
		}
		r, err := readRequire(item.text)
		if err != nil {
			return nil, item.at.errorf("require: %s", err)
		}
		all = append(all, requirement{item.at, r})
	}
	return all, nil
}

// applyRequires gives a complete study its requirements.
func applyRequires(all []requirement, s *study.Study) error {
	scope := s.Scope()
	for _, r := range all {
		if text := scope.Require(r.Require); text != "" {
			return r.at.errorf("require: %s", text)
		}
		s.Requires = append(s.Requires, r.Require)
	}
	return nil
}

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
	r = record.Require{Text: text, Metric: m.Name, Arm: part[2], AtLeast: part[3] == ">=" || part[3] == "≥"}
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

func metricOf(name string) (metric.Metric, error) {
	m, err := metric.Named(name)
	if err != nil {
		return m, fmt.Errorf("unknown metric %q; %s", quantity.Clip(name, 80), quantity.Hint(name, study.MetricNames()))
	}
	return m, nil
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
