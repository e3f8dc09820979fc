package study

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
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

func (s *Study) readRequires(tree *node) error {
	e := tree.get("require")
	if e == nil {
		return nil
	}
	items := listed(e.value)
	if e.value.kind == mapping || len(items) > maxRequires {
		return e.value.at.errorf("require: found %s; expected a list of at most %d lines, each %s", counted(e.value), maxRequires, requireForm)
	}
	for _, item := range items {
		if item.kind != scalar {
			return item.at.errorf("require: found %s; expected %s", item.kind, requireForm)
		}
		r, err := readRequire(item.text)
		if err == nil {
			err = s.requireProblem(r)
		}
		if err != nil {
			return item.at.errorf("require: %s", err)
		}
		s.Requires = append(s.Requires, r)
	}
	return nil
}

// readRequire takes one line apart. Whether the study has what it names is not
// asked.
func readRequire(text string) (record.Require, error) {
	var r record.Require
	if err := checkText(text); err != nil {
		return r, err
	}
	text = strings.Join(strings.Fields(text), " ")
	part := requireLine.FindStringSubmatch(text)
	if part == nil {
		return r, fmt.Errorf("found %q; expected %s", clip(text, 80), requireForm)
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
		return r, fmt.Errorf("%q is not a multiple; expected a number, such as 1.2 x %s", clip(part[4], 40), clip(r.Base, 40))
	case err != nil:
		return r, err
	case !(r.Bound > 0) || math.IsInf(r.Bound, 1):
		return r, fmt.Errorf("the bound %q is not above 0, where every figure lies", clip(part[4], 40))
	}
	r.Where, err = conditions(part[5])
	return r, err
}

func metricOf(name string) (metric.Metric, error) {
	m, err := metric.Named(name)
	if err != nil {
		return m, errors.New(unknown("metric", name, metricNames()))
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
		err = fmt.Errorf("%q is not a number", clip(text, 40))
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
			return nil, fmt.Errorf("where: found %q; expected FACTOR=LEVEL, several joined by and", clip(one, 80))
		}
		f, err := factorNamed(strings.TrimSpace(name))
		if err != nil {
			return nil, fmt.Errorf("where: %w", err)
		}
		l, err := f.level(strings.TrimSpace(level))
		if err != nil {
			return nil, fmt.Errorf("where: %w", err)
		}
		where[f.Name] = l.Text
	}
	return where, nil
}

// requireProblem says what a requirement names that the study does not have;
// nil for a sound one.
func (s *Study) requireProblem(r record.Require) error {
	arms := factorOf(s.compared()).Levels
	named := []string{r.Arm}
	if r.Base != "" {
		named = append(named, r.Base)
	}
	for _, arm := range named {
		if !slices.Contains(arms, arm) {
			return fmt.Errorf("%s has no level %q; %s", s.Compare.Factor, clip(arm, 80), quantity.Hint(arm, arms))
		}
	}
	if _, open := s.loops(); strings.HasPrefix(r.Metric, responsePrefix) && !open {
		return fmt.Errorf("%s exists in an open loop only, and no trial has a rate; name service_… or set rate", r.Metric)
	}
	if r.Arm == r.Base {
		return fmt.Errorf("%s is held against itself; expected another arm, or a bound in the metric's unit", r.Arm)
	}
	if key, text := s.whereProblem(r.Where, named); text != "" {
		return fmt.Errorf("%s: %s", key, text)
	}
	return nil
}

// keepRequires takes over those requirements of the original study that still
// speak of what this one has, unless others were typed. What is left out is
// warned of: a gate must not pass because nobody asked.
func (s *Study) keepRequires(original *Study, typed bool) {
	if typed {
		return
	}
	for _, r := range original.Requires {
		if err := s.requireProblem(r); err != nil {
			s.dropped = append(s.dropped, r.Text)
			continue
		}
		s.Requires = append(s.Requires, r)
	}
}

func (s *Study) warnRequires() []record.Warning {
	var out []record.Warning
	for _, text := range s.dropped {
		out = append(out, record.Warning{
			About:  "require",
			Text:   fmt.Sprintf("%s is left out: the study as it was changed has no such arm or level", text),
			Advice: "run the arm and the level too, or type require=… of your own",
		})
	}
	return out
}

func (s *Study) writeRequires(b *bytes.Buffer) {
	for i, r := range s.Requires {
		if i == 0 {
			b.WriteString("require:\n")
		}
		fmt.Fprintf(b, "  - %s\n", quote(r.Text))
	}
}
