package source

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

// single is the kind of a single value. Show is "" for a value that need not be
// written.
func single[V any](form string, parse func(string) (V, error), show func(V) string) kind[V] {
	return kind[V]{
		form: form,
		read: func(e entry) (v V, err error) {
			text, err := e.scalarOf(form)
			if err != nil {
				return v, err
			}
			if v, err = parse(text); err != nil {
				err = e.value.at.errorf("%s: %s", e.key, strings.TrimPrefix(err.Error(), e.key+": "))
			}
			return v, err
		},
		write: func(v V) *node { return textNode(show(v)) },
	}
}

// several is the kind of a list of some values; a single value is a list of
// one. Parse knows the values before its own.
func several[V any](l length, form, one string, parse func(text string, before []V) (V, error), show func(V) string) kind[[]V] {
	return kind[[]V]{
		form: form, many: true,
		read: func(e entry) (all []V, err error) {
			items := listed(e.value)
			if e.value.kind == mapping || !l.has(len(items)) {
				return nil, e.value.at.errorf("%s: found %s; expected %s", e.key, counted(e.value), form)
			}
			for _, item := range items {
				if item.kind != scalar {
					return nil, item.at.errorf("%s: found %s; expected %s", e.key, item.kind, one)
				}
				v, err := parse(item.text, all)
				if err != nil {
					return nil, item.at.errorf("%s: %s", e.key, strings.TrimPrefix(err.Error(), e.key+": "))
				}
				all = append(all, v)
			}
			return all, nil
		},
		write: func(all []V) *node {
			texts := each.Of(all, show)
			return textsNode(texts)
		},
	}
}

func asIs(text string) string { return text }

func unlessZero(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

// aText is a text in one line.
var aText = aLine("a text", 1, study.MaxText)

// maxQuestion bounds a question in bytes.
const maxQuestion = 1000

func aLine(form string, least, most int) kind[string] {
	return single(form, func(text string) (string, error) {
		if len(text) < least || len(text) > most {
			return "", fmt.Errorf("the text has %d bytes; expected %s", len(text), length{least, most})
		}
		return strings.Join(strings.Fields(text), " "), nil
	}, asIs)
}

var properName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,62}$`)

// aName names a study or a sweep.
var aName = single("a name", func(text string) (string, error) {
	if !properName.MatchString(text) {
		return "", fmt.Errorf("%q is not a name; expected letters, digits, ., _, + and -", quantity.Clip(text, 80))
	}
	return text, nil
}, asIs)

// aWord is a text that the complete study knows or not: an arm, a factor.
func aWord(form string) kind[string] {
	return single(form, func(text string) (string, error) { return text, nil }, asIs)
}

var aFlag = single("yes or no", func(text string) (bool, error) {
	level, err := study.Factor{Kind: study.Flag}.Level(text)
	if err != nil {
		err = fmt.Errorf("found %q; expected yes or no", quantity.Clip(text, 40))
	}
	return level.Value > 0, err
}, func(is bool) string { return map[bool]string{true: "yes"}[is] })

// oneOf is one of some words.
func oneOf[V ~string](what string, all ...V) kind[V] {
	names := each.Of(all, func(v V) string { return string(v) })
	return single("one of "+joined(names), func(text string) (V, error) {
		if !slices.Contains(names, text) {
			return "", fmt.Errorf("unknown %s %q; %s", what, quantity.Clip(text, 80), quantity.Hint(text, names))
		}
		return V(text), nil
	}, func(v V) string { return string(v) })
}

// aCount is a whole number from 1 on.
func aCount(most int) kind[int] {
	return single("a whole number", func(text string) (int, error) {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 || n > most {
			return 0, fmt.Errorf("found %q; expected a whole number from 1 to %d", quantity.Clip(text, 40), most)
		}
		return n, nil
	}, unlessZero)
}

// ofFactor is a number that belongs to the whole study and that package study bounds.
func ofFactor[V int | uint64](factor string, show func(V) string) kind[V] {
	return single("a number", func(text string) (V, error) {
		f, err := study.FactorNamed(factor)
		if err != nil {
			return 0, err
		}
		level, err := f.Level(text)
		return V(level.Value), err
	}, show)
}

// some is the least share that is not nothing.
const some = math.SmallestNonzeroFloat64

// aShare is a share of at least some part.
func aShare(least float64, show func(float64) string) kind[float64] {
	return single("a share such as 5%", func(text string) (float64, error) {
		share, err := quantity.ParseShare(text)
		if err != nil || share >= least {
			return share, err
		}
		if least == some {
			return 0, fmt.Errorf("found %s; expected a share above 0", quantity.Clip(text, 40))
		}
		return 0, fmt.Errorf("found %s; expected a share from %s to 100%%", quantity.Clip(text, 40), quantity.ShareText(least))
	}, show)
}

// Bounds in seconds of the time that a search or a race may take.
const (
	leastSeconds = 5
	mostSeconds  = 24 * 3600
)

var aTime = single("a duration such as 60s", func(text string) (float64, error) {
	d, err := quantity.ParseDuration(text)
	if err == nil && (d.Seconds() < leastSeconds || d.Seconds() > mostSeconds) {
		err = fmt.Errorf("found %s; expected %d s to a day", quantity.Clip(text, 40), leastSeconds)
	}
	return d.Seconds(), err
}, func(seconds float64) string {
	if seconds == 0 {
		return ""
	}
	return fmt.Sprintf("%gs", seconds)
})

// known makes a kind of a name that the complete study must have; "" is none.
func known(form string, has func(study.Scope, string) string) kind[string] {
	k := aText
	k.form = form
	k.fits = func(c study.Scope, name string) string {
		if name == "" {
			return ""
		}
		return has(c, name)
	}
	return k
}

// someKnown are some names that the complete study must have.
func someKnown(l length, what string, has func(study.Scope, string) string, parse func(text string, before []string) (string, error)) kind[[]string] {
	k := several(l, "a list of "+l.String()+" "+what, "a name", parse, asIs)
	k.fits = func(c study.Scope, names []string) string {
		for _, name := range names {
			if text := has(c, name); text != "" {
				return text
			}
		}
		return ""
	}
	return k
}

var (
	aFactor = known("a factor that the study names", study.Scope.By)
	anAxis  = known("a factor whose levels are numbers", study.Scope.Axis)
)

func someArms(least, most int) kind[[]string] {
	return someKnown(length{least, most}, "arms", study.Scope.Arm, func(text string, _ []string) (string, error) { return text, nil })
}

func someAxes(most int) kind[[]string] {
	return someKnown(length{1, most}, "factors whose levels are numbers", study.Scope.Axis, func(text string, before []string) (string, error) {
		if slices.Contains(before, text) {
			return "", fmt.Errorf("%s is named twice", text)
		}
		return text, nil
	})
}

// metricOf returns a metric, which may be named without its unit of µs: response_p95.
func metricOf(name string) (metric.Metric, error) {
	m, err := metric.Named(name)
	if err != nil {
		if m, err := metric.Named(name + "_us"); err == nil {
			return m, nil
		}
		return m, fmt.Errorf("unknown metric %q; %s", quantity.Clip(name, 80), quantity.Hint(name, study.MetricNames()))
	}
	return m, nil
}

var aMetric = single("a metric", func(text string) (string, error) {
	m, err := metricOf(text)
	return m.Name, err
}, asIs)

// someMetrics are names of metrics, each once.
var someMetrics = several(length{1, len(study.MetricNames())}, "a list of metrics", "a metric's name", func(text string, before []string) (string, error) {
	m, err := metricOf(text)
	if err == nil && slices.Contains(before, m.Name) {
		err = fmt.Errorf("%s is listed twice", text)
	}
	return m.Name, err
}, asIs)
