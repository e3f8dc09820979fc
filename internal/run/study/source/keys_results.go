package source

import (
	"maps"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// Limits of what is said of the results.
const (
	maxViews = 100 // of every other list
	maxTerms = 16
	maxRungs = 20
)

// resultKeys say what to make of the results. They are read when the study is complete,
// as each must speak of what it has.
var resultKeys = []key[study.Study]{
	blocksOf("charts", length{0, maxViews}, chartBlock, func(s *study.Study) *[]record.Chart { return &s.Charts }, "charts of the report").result(),
	costsKey(),
	ladderKey(),
	expectKey(),
}

// keyTitle and its like are the keys that most blocks have.
func keyTitle[T any](where func(*T) *string) key[T] {
	return keyOf("title", aText, where, "what stands above it")
}

var chartBlock = block[record.Chart]{
	name: "chart",
	keys: []key[record.Chart]{
		keyTitle(func(c *record.Chart) *string { return &c.Title }).must(),
		keyOf("kind", oneOf("kind", record.Lines, record.Heat, record.Front), func(c *record.Chart) *record.ChartKind { return &c.Kind }, "kind of the chart").must(),
		keyOf("metric", aMetric, func(c *record.Chart) *string { return &c.Metric }, "metric that is drawn"),
		keyOf("x", anAxis, func(c *record.Chart) *string { return &c.X }, "of lines and heat: factor along the axis"),
		keyOf("y", anAxis, func(c *record.Chart) *string { return &c.Y }, "of heat: factor along the other axis"),
		keyOf("by", aFactor, func(c *record.Chart) *string { return &c.By }, "of lines and front: factor with a line, or a mark, for each level"),
		keyOf("against", aMetric, func(c *record.Chart) *string { return &c.Against }, "of front: the metric that it costs"),
		keyOf("where", oneLevelEach, func(c *record.Chart) *map[string]string { return &c.Where }, "levels to whose trials it is confined"),
		keyOf("arms", someArms(0, maxArms), func(c *record.Chart) *[]string { return &c.Arms }, "only these arms; all unless given"),
	},
	check: func(n *node, c *record.Chart, _ whole) error {
		allowed := axes[c.Kind]
		may := append(slices.Clone(allowed.needs), allowed.may...)
		for _, key := range []string{"metric", "x", "y", "by", "against"} {
			switch e := n.entryOf(key); {
			case e == nil && slices.Contains(allowed.needs, key):
				return n.at.errorf("chart: the key %q is missing; %s needs %s", key, c.Kind, joined(allowed.needs))
			case e != nil && !slices.Contains(may, key):
				return e.at.errorf("chart: %s has no %s; it has %s", c.Kind, key, joined(may))
			}
		}
		return nil
	},
	rule: func(c study.Scope, x record.Chart) (key, text string) { return c.Where(x.Where, x.Arms) },
}

// axes says which keys a kind of chart needs and which it may have.
var axes = map[record.ChartKind]struct{ needs, may []string }{
	record.Lines: {needs: []string{"metric", "x"}, may: []string{"by"}},
	record.Heat:  {needs: []string{"metric", "x", "y"}},
	record.Front: {needs: []string{"metric", "against"}, may: []string{"by"}},
}

// costsKey is the key of models of costs. Of a changed study they keep the terms and the
// levels held out that it still has.
func costsKey() key[study.Study] {
	k := blocksOf("costs", length{0, maxViews}, costBlock, func(s *study.Study) *[]record.Cost { return &s.Costs }, "models of what an exchange or a process costs").result()
	read := k.read
	k.read = func(e entry, s *study.Study, w whole) error {
		if !w.kept {
			return read(e, s, w)
		}
		if err := read(e, s, whole{Study: w.Study}); err != nil {
			return err
		}
		s.Costs = slices.DeleteFunc(w.scope.KeptLevels(s.Costs), func(x record.Cost) bool {
			_, text := costBlock.problem(*w.scope, &x)
			return text != ""
		})
		return nil
	}
	return k
}

var costBlock = block[record.Cost]{
	name: "cost",
	keys: []key[record.Cost]{
		keyTitle(func(c *record.Cost) *string { return &c.Title }).must(),
		keyOf("metric", aMetric, func(c *record.Cost) *string { return &c.Metric }, "metric that is modelled").must(),
		keyOf("per", anAxis, func(c *record.Cost) *string { return &c.Per }, "factor that multiplies all but the constant"),
		keyOf("terms", someAxes(maxTerms), func(c *record.Cost) *[]string { return &c.Terms }, "factors whose levels are numbers").must(),
		keyOf("holdout", holdoutOf, func(c *record.Cost) *map[string][]string { return &c.Holdout }, "levels whose cells are not fitted, by factor"),
	},
	rule: func(c study.Scope, x record.Cost) (key, text string) {
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
		return "", ""
	},
}

// holdoutOf are levels in canonical text by factor.
var holdoutOf = kind[map[string][]string]{
	form: "a mapping from factors to lists of levels",
	read: func(e entry) (map[string][]string, error) {
		held := map[string][]string{}
		return held, e.each(length{0, maxLevels}, "a mapping from factors to lists of levels", func(factor entry) error {
			v, err := readVariedFactor(factor, readLevels)
			for _, l := range v.Levels {
				held[v.Factor] = append(held[v.Factor], l.Text)
			}
			return err
		})
	},
	write: func(held map[string][]string) *node {
		return mapNode(held, func(levels []string) *node { return textsNode(levels) })
	},
}

// ladderKey is the key of ladders: a mapping, or a list of some.
func ladderKey() key[study.Study] {
	k := blocksOf("ladder", length{0, maxViews}, ladderBlock, func(s *study.Study) *[]record.Ladder { return &s.Ladders }, "arms in an order in which each differs from the one before in one thing").result()
	read := k.read
	k.read = func(e entry, into *study.Study, w whole) error {
		if e.value.kind == mapping {
			e.value = &node{at: e.value.at, kind: list, items: []*node{e.value}}
		}
		if err := read(e, into, w); err != nil {
			return err
		}
		into.SetLadders(into.Ladders)
		return nil
	}
	return k
}

var ladderBlock = block[record.Ladder]{
	name: "ladder",
	keys: []key[record.Ladder]{
		keyTitle(func(l *record.Ladder) *string { return &l.Title }),
		key[record.Ladder]{
			about: about{name: "arms", form: "a list of arms", doc: "three arms or more, in order", needed: true},
			read:  readRungs,
			write: func(l *record.Ladder) *node { return textsNode(l.Arms) },
		},
		key[record.Ladder]{
			about: about{name: "steps", form: "a list of titles", doc: "a few words on what each step adds"},
			read:  readSteps,
			write: func(l *record.Ladder) *node { return textsNode(l.Titles()) },
		},
	},
	check: func(_ *node, l *record.Ladder, _ whole) error {
		if l.Steps == nil {
			l.Steps = make([]record.Step, max(0, len(l.Arms)-1))
		}
		return nil
	},
	rule: study.Scope.Ladder,
}

// readRungs reads the arms of a ladder; an error names the one that is wrong.
func readRungs(e entry, l *record.Ladder, w whole) error {
	if e.value.kind != list || len(e.value.items) > maxRungs {
		return e.value.at.errorf("ladder: found %s; expected a list of at most %d arms, in order", counted(e.value), maxRungs)
	}
	for _, item := range e.value.items {
		if item.kind != scalar {
			return item.at.errorf("ladder: found %s; expected an arm", item.kind)
		}
		if text := w.scope.Rung(l.Arms, item.text); text != "" {
			return item.at.errorf("ladder: %s", text)
		}
		l.Arms = append(l.Arms, item.text)
	}
	return nil
}

// readSteps reads the titles of a ladder's steps, which are all there or none.
func readSteps(e entry, l *record.Ladder, _ whole) error {
	steps := max(0, len(l.Arms)-1)
	if e.value.kind != list || len(e.value.items) != steps {
		return e.value.at.errorf("steps: found %s; expected a list of %d titles, one for each step between two arms", counted(e.value), steps)
	}
	for i, item := range e.value.items {
		title, err := aText.read(entry{key: "steps", value: item})
		if err != nil || title == "" {
			return item.at.errorf("steps: %q is not a title; expected a few words on what the step from %s to %s adds", quantity.Clip(item.text, 40), l.Arms[i], l.Arms[i+1])
		}
		l.Steps = append(l.Steps, record.Step{Title: title})
	}
	return nil
}
