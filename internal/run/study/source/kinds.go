package source

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"netdyno/internal/each"
	"netdyno/internal/metric"
	"netdyno/internal/pattern"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// kinds are the kinds of values, by the names that fields have for them.
var kinds map[string]kind

func init() { // not where it is declared, as some of them look for keys again
	kinds = map[string]kind{
		"name": aName, "sentence": aLine("a sentence", 0, maxQuestion), "text": aText, "label": aLabel, "flag": aFlag, "time": aTime,
		"setting": settingsOf, "level each": oneLevelEach, "levels": levelsOf, "varied": varied, "labels": labelsOf, "conditions": conditionsOf,
		"varied factor": aWord("one of the varied factors"), "baseline": aWord("the arm that the others are compared with"),
		"metric": aMetric, "metrics": someMetrics, "pairs": somePairs, "precision": aPrecision, "bounds": someBounds, "statement": thatConditions, "steps": someSteps,
		"chart":        oneOf("kind", record.Lines, record.Heat, record.Front),
		"named factor": known(aWord("a factor that the study names"), study.Scope.By),
		"axis":         known(aWord("a factor whose levels are numbers"), study.Scope.Axis),
		"axes":         known(someNames("factors whose levels are numbers"), study.Scope.Axis),
		"arms":         known(someNames("arms"), study.Scope.Arm),
	}
	maps.Copy(kinds, workloadKinds)
}

const (
	maxQuestion = 1000 // bytes
	maxNames    = 4096
	maxAlso     = 20 // further comparisons: all share one level
)

// kindOfValue is the kind of a V.
func kindOfValue[V any](form string, read func(e entry) (V, error), write func(V) *node) kind {
	return kind{
		form: form,
		read: func(e entry, f field) error {
			v, err := read(e)
			f.at.Set(reflect.ValueOf(&v).Elem())
			return err
		},
		write: func(f field) *node { return write(f.at.Interface().(V)) },
	}
}

// single is the kind of a single value. Show is "" for a value that need not be
// written.
func single[V any](form string, parse func(string) (V, error), show func(V) string) kind {
	return kindOfValue(form, func(e entry) (V, error) { return one(e, form, parse) }, func(v V) *node { return textNode(show(v)) })
}

// one reads a single value.
func one[V any](e entry, form string, parse func(string) (V, error)) (v V, err error) {
	text, err := e.scalarOf(form)
	if err != nil {
		return v, err
	}
	if v, err = parse(text); err != nil {
		err = e.value.at.errorf("%s: %s", e.key, strings.TrimPrefix(err.Error(), e.key+": "))
	}
	return v, err
}

// several is the kind of a list of some values; a single value is a list of one.
func several[V any](l length, form, one string, parse func(text string) (V, error), show func(V) string) kind {
	k := kindOfValue(form, func(e entry) (all []V, err error) {
		items := listed(e.value)
		if e.value.kind == mapping || !l.has(len(items)) {
			return nil, e.value.at.errorf("%s: found %s; expected %s", e.key, counted(e.value), form)
		}
		for _, item := range items {
			if item.kind != scalar {
				return nil, item.at.errorf("%s: found %s; expected %s", e.key, item.kind, one)
			}
			v, err := parse(item.text)
			if err == nil && slices.ContainsFunc(all, func(before V) bool { return show(before) == show(v) }) {
				err = fmt.Errorf("%s is listed twice", item.text)
			}
			if err != nil {
				return nil, item.at.errorf("%s: %s", e.key, strings.TrimPrefix(err.Error(), e.key+": "))
			}
			all = append(all, v)
		}
		return all, nil
	}, func(all []V) *node { return textsNode(each.Of(all, show)) })
	k.many = true
	return k
}

// known are names that the complete study must have.
func known(k kind, has func(study.Scope, string) string) kind {
	k.fits = func(f field, c study.Scope) string {
		all, several := f.at.Interface().([]string)
		if !several && f.at.String() != "" {
			all = []string{f.at.String()}
		}
		for _, name := range all {
			if text := has(c, name); text != "" {
				return text
			}
		}
		return ""
	}
	return k
}

func asIs(text string) string { return text }

func itself(text string) (string, error) { return text, nil }

// aWord is a text that the complete study knows or not: an arm, a factor.
func aWord(form string) kind { return single(form, itself, asIs) }

func someNames(what string) kind {
	return several(length{1, maxNames}, "a list of "+what, "a name", itself, asIs)
}

// aText is a text in one line.
var aText = aLine("a text", 1, study.MaxText)

func aLine(form string, least, most int) kind {
	return single(form, func(text string) (string, error) { return readLine(text, least, most) }, asIs)
}

func readLine(text string, least, most int) (string, error) {
	if len(text) < least || len(text) > most {
		return "", fmt.Errorf("the text has %d bytes; expected %s", len(text), length{least, most})
	}
	return strings.Join(strings.Fields(text), " "), nil
}

var properName = pattern.Once(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,62}$`)

// aName names a study or a sweep.
var aName = single("a name", func(text string) (string, error) {
	if !properName().MatchString(text) {
		return "", fmt.Errorf("%q is not a name; expected letters, digits, ., _, + and -", quantity.Clip(text, 80))
	}
	return text, nil
}, asIs)

var aFlag = single("yes or no", readFlag, func(is bool) string { return map[bool]string{true: "yes"}[is] })

func readFlag(text string) (bool, error) {
	level, err := study.Factor{Kind: study.Flag}.Level(text)
	if err != nil {
		err = fmt.Errorf("found %q; expected yes or no", quantity.Clip(text, 40))
	}
	return level.Value > 0, err
}

// oneOf is one of some words.
func oneOf[V ~string](what string, all ...V) kind {
	names := each.Of(all, func(v V) string { return string(v) })
	return single("one of "+joined(names), func(text string) (V, error) {
		if !slices.Contains(names, text) {
			return "", fmt.Errorf("unknown %s %q; %s", what, quantity.Clip(text, 80), quantity.Hint(text, names))
		}
		return V(text), nil
	}, func(v V) string { return string(v) })
}

// aNumber is a whole number within the bounds of its field's tags.
func aNumber(f reflect.StructField) kind {
	bound := func(name string) float64 {
		x, err := strconv.ParseFloat(cmp.Or(f.Tag.Get(name), "0"), 64)
		if err != nil {
			panic(fmt.Errorf("field %s: %w", f.Name, err))
		}
		return x
	}
	of := study.Factor{Name: f.Tag.Get("key"), Kind: study.Count, Min: bound("min"), Max: bound("max")}
	return kind{
		form: "a number",
		read: func(e entry, to field) error {
			level, err := one(e, "a number", of.Level)
			if to.at.CanUint() {
				to.at.SetUint(uint64(level.Value))
			} else {
				to.at.SetInt(int64(level.Value))
			}
			return err
		},
		write: func(from field) *node {
			if from.at.CanUint() {
				return textNode(strconv.FormatUint(from.at.Uint(), 10))
			}
			if from.at.IsZero() {
				return nil
			}
			return textNode(strconv.FormatInt(from.at.Int(), 10))
		},
	}
}

// aShare is a share of at least some part.
func aShare(least string) kind {
	return single("a share such as 5%", func(text string) (float64, error) {
		share, err := quantity.ParseShare(text)
		if bound, bad := quantity.ParseShare(least); err == nil && bad == nil && share < bound {
			err = fmt.Errorf("found %s; expected a share from %s to 100%%", quantity.Clip(text, 40), least)
		}
		return share, err
	}, quantity.ShareText)
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

// aPrecision is the share within which a rate is to be known, and the time that the run
// may take until then; 0 for no bound. Of several arms there is a time alone.
var aPrecision = kind{
	form: "a share such as 5%, a share and a time such as 5%/30s, or of several arms a time such as 30s",
	read: func(e entry, f field) error {
		p, err := one(e, aPrecisionForm, readPrecision)
		f.at.SetFloat(p.share)
		f.of.(*study.Study).SettleS = p.time.Seconds()
		return err
	},
	write: func(f field) *node {
		var parts []string
		if share := f.at.Float(); share > 0 {
			parts = append(parts, quantity.ShareText(share))
		}
		if seconds := f.of.(*study.Study).SettleS; seconds > 0 {
			parts = append(parts, quantity.DurationText(time.Duration(seconds*float64(time.Second))))
		}
		return textNode(strings.Join(parts, "/"))
	},
}

const aPrecisionForm = "a share such as 5%, or a time such as 30s"

type precision struct {
	share float64
	time  time.Duration
}

func readPrecision(text string) (p precision, err error) {
	if alone, err := quantity.ParseDuration(text); err == nil && alone > 0 {
		return precision{time: alone}, nil
	}
	text, bound, bounded := strings.Cut(text, "/")
	if bounded {
		if p.time, err = quantity.ParseDuration(bound); err != nil || p.time <= 0 {
			return p, fmt.Errorf("found %s behind the share; expected the time that the run may take for it, such as 5%%/30s", quantity.Clip(bound, 40))
		}
	}
	if p.share, err = quantity.ParseShare(text); err == nil && !(p.share > 0) {
		err = fmt.Errorf("found %s; expected a share above 0, up to 100%%", quantity.Clip(text, 40))
	}
	return p, err
}

// readMetric reads a metric, which may be named without its unit of µs: response_p95.
func readMetric(name string) (string, error) {
	for _, full := range []string{name, name + "_us"} {
		if m, err := metric.Named(full); err == nil {
			return m.Name, nil
		}
	}
	return "", fmt.Errorf("unknown metric %q; %s", quantity.Clip(name, 80), quantity.Hint(name, study.MetricNames()))
}

var (
	aMetric     = single("a metric", readMetric, asIs)
	someMetrics = several(length{1, len(study.MetricNames())}, "a list of metrics", "a metric's name", readMetric, asIs)
)

// somePairs are pairs of arms, of which the first is divided by the second.
var somePairs = several(length{0, maxAlso}, fmt.Sprintf("at most %d pairs, each ARM over ARM", maxAlso), "ARM over ARM",
	func(text string) (p record.Pair, err error) {
		var two bool
		if p.Arm, p.Base, two = strings.Cut(text, " over "); !two {
			err = fmt.Errorf("found %q; expected ARM over ARM", quantity.Clip(text, 80))
		}
		return p, err
	}, func(p record.Pair) string { return p.Arm + " over " + p.Base })
