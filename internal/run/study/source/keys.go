package source

import (
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/workload"
)

// What a study, a race and a search for a capacity are where nothing is said.
const (
	defaultSeed = 1
	raceBlocks  = 16
	raceConfirm = 10 // fresh blocks of winner and baseline
)

var defaultObjective = record.Bound{Text: "response_p99 <= 10ms", Metric: metric.ResponseP99, Value: 10_000}

var standards = map[reflect.Type]any{
	reflect.TypeFor[keyLaw]():          keyLaw{},
	reflect.TypeFor[workload.Zipf]():   workload.Zipf{S: 1},
	reflect.TypeFor[record.Race]():     record.Race{Best: metric.ExchangesPerS, Confirm: raceConfirm},
	reflect.TypeFor[record.Capacity](): record.Capacity{Objective: []record.Bound{defaultObjective}, Within: 0.10, TimeS: 60},
}

// check refuses a mapping whose keys do not go together, when all of them are read.
func check(n *node, x any, whole *study.Study) error {
	switch x := x.(type) {
	case *study.Sweep:
		x.At = n.at
		for _, earlier := range whole.Sweeps {
			if earlier.Name == x.Name {
				return n.at.errorf("sweeps: %s is the name of two sweeps; first at %s", x.Name, earlier.At)
			}
		}
	case *class:
		return x.check(n)
	case *record.Chart:
		return checkChart(n, x.Kind)
	case *record.Ladder:
		const least = 3 // two have one step, which is the whole
		if len(x.Arms) < least {
			return n.value("arms").at.errorf("arms: found %d; expected %d arms or more, each of which differs from the one before in one thing", len(x.Arms), least)
		}
		steps := len(x.Arms) - 1
		if e := n.entryOf("steps"); e != nil && len(x.Steps) != steps {
			return e.value.at.errorf("steps: found %s; expected a list of %d titles, one for each step between two arms", counted(e.value), steps)
		} else if e == nil {
			x.Steps = make([]record.Step, steps)
		}
	case *record.Expectation:
		switch e := n.entryOf("that"); {
		case x.Unmeasured != "" && e != nil:
			return e.at.errorf("that: what no arm can test has no conditions; leave out that, or unmeasured")
		case x.Unmeasured == "" && e == nil:
			return n.at.errorf(`expect: the key "that" is missing; expected a condition, or unmeasured: why no arm can test it`)
		case x.Unmeasured != "" && x.Title == "":
			return n.at.errorf(`expect: the key "title" is missing; expected what it is that no arm can test`)
		}
	}
	return nil
}

// axes says which keys a kind of chart needs and which it may have.
var axes = map[record.ChartKind]struct{ needs, may []string }{
	record.Lines: {needs: []string{"metric", "x"}, may: []string{"by"}},
	record.Heat:  {needs: []string{"metric", "x", "y"}},
	record.Front: {needs: []string{"metric", "against"}, may: []string{"by"}},
}

func checkChart(n *node, kind record.ChartKind) error {
	allowed := axes[kind]
	may := append(slices.Clone(allowed.needs), allowed.may...)
	for _, key := range []string{"metric", "x", "y", "by", "against"} {
		switch e := n.entryOf(key); {
		case e == nil && slices.Contains(allowed.needs, key):
			return n.at.errorf("chart: the key %q is missing; %s needs %s", key, kind, joined(allowed.needs))
		case e != nil && !slices.Contains(may, key):
			return e.at.errorf("chart: %s has no %s; it has %s", kind, key, joined(may))
		}
	}
	return nil
}

// rule says what the complete study must have beside what each key asks for, and the key
// that is wrong; both are "" for nothing wrong.
func rule(c study.Scope, x any) (key, text string) {
	switch x := x.(type) {
	case *record.Chart:
		return c.Where(x.Where, x.Arms)
	case *record.Cost:
		for _, factor := range slices.Sorted(maps.Keys(x.Holdout)) {
			for _, level := range x.Holdout[factor] {
				if _, text := c.Where(map[string]string{factor: level}, nil); text != "" {
					return "holdout", text
				}
			}
		}
		switch {
		case len(x.Terms) == 0:
			return "terms", "no factor is left"
		case slices.Contains(x.Terms, x.Per):
			return "terms", x.Per + " is named twice"
		}
	case *record.Expectation:
		for _, text := range x.That {
			one, err := parsed(text)
			if err != nil {
				return "that", err.Error()
			}
			if text := c.Condition(one); text != "" {
				return "that", text
			}
		}
	}
	return "", ""
}

// someSteps are the titles of a ladder's steps.
var someSteps = several(length{0, maxViews}, "a list of titles", "a few words on what the step adds",
	func(text string) (step record.Step, err error) {
		step.Title, err = readLine(text, 1, study.MaxText)
		return step, err
	},
	func(s record.Step) string { return s.Title })

// withSweepsApart is a file in whose sweeps no factors vary together: a sweep that varies
// A+B stands for one sweep for each level, which holds both factors at it.
func withSweepsApart(file *node) (*node, error) {
	e := file.entryOf("sweeps")
	if e == nil || e.value.kind != list {
		return file, nil
	}
	apart := &node{at: e.value.at, kind: list}
	for _, item := range e.value.items {
		sweeps, err := eachTogether(item)
		if err != nil {
			return nil, err
		}
		apart.items = append(apart.items, sweeps...)
	}
	return mappingNode(e.at, "sweeps", apart).over(file), nil
}

// unitOf finds where a unit begins, which a label sets apart: "64 KiB there and back".
var unitOf = regexp.MustCompile(`(\d)([A-Za-z])`)

// eachTogether returns a sweep for each level of factors that vary together; the sweep
// itself where none do.
func eachTogether(sweep *node) (all []*node, err error) {
	vary, name, label := sweep.value("vary"), sweep.value("name"), sweep.value("label")
	at := slices.IndexFunc(vary.entries, func(e entry) bool { return strings.Contains(e.key, "+") })
	if at < 0 {
		return []*node{sweep}, nil
	}
	factors := vary.entries[at]
	for _, level := range listed(factors.value) {
		own := mappingNode(name.at, "name", scalarNode(name.at, name.text+"-"+level.text))
		if label.kind == scalar {
			own.entries = append(own.entries, entry{"label", label.at, scalarNode(label.at, unitOf.ReplaceAllString(level.text, "$1 $2")+" "+label.text)})
		}
		hold := &node{at: factors.at, kind: mapping}
		for _, factor := range strings.Split(factors.key, "+") {
			if held := sweep.value("hold").entryOf(factor); held != nil {
				return nil, held.at.errorf("%s is set twice; also at %s", factor, factors.at)
			}
			hold.entries = append(hold.entries, entry{factor, factors.at, level})
		}
		own.entries = append(own.entries, entry{"hold", factors.at, hold})
		left := mappingNode(vary.at, "vary", vary.without(factors.key))
		all = append(all, own.over(left.over(sweep.without("vary"))))
	}
	return all, nil
}
