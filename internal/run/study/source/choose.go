package source

import (
	"math"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// maxBounds bounds the metrics that one choice keeps within limits.
const maxBounds = 8

var choiceKeys = []string{"title", "best", "within", "where"}

// readChoices reads the section choose: one choice, or a list of them.
func readChoices(tree *node, s *study.Study, scope study.Scope) error {
	e := tree.get("choose")
	if e != nil && e.value.kind == mapping {
		one := *e
		one.value = &node{at: e.value.at, kind: list, items: []*node{e.value}}
		tree = &node{at: tree.at, kind: mapping, entries: []entry{one}}
	}
	var err error
	s.Choices, err = views(tree, "choose", choiceKeys, func(n *node) (record.Choice, error) {
		c, err := readChoice(n)
		if err == nil {
			err = n.problem(scope.Choice(c))
		}
		return c, err
	})
	return err
}

func readChoice(n *node) (record.Choice, error) {
	var c record.Choice
	err := n.texts("choose", map[string]*string{"title": &c.Title, "best": &c.Best}, "best", "within")
	if err != nil {
		return c, err
	}
	if c.Within, err = readBounds(n.get("within")); err != nil {
		return c, err
	}
	c.Where, err = n.where()
	return c, err
}

// readBounds reads METRIC: BOUND. More than the bound is too much of a metric of
// which less is better; of the others less than the bound is too little.
func readBounds(e *entry) ([]record.Bound, error) {
	if e.value.kind != mapping || len(e.value.entries) == 0 || len(e.value.entries) > maxBounds {
		return nil, e.at.errorf("within: found %s; expected 1 to %d metrics, each with its bound, such as {server.rss_bytes: 200MB}",
			counted(e.value), maxBounds)
	}
	var all []record.Bound
	for _, one := range e.value.entries {
		text, err := one.scalarOf("a bound, such as 200MB")
		if err != nil {
			return nil, err
		}
		m, err := metricOf(one.key)
		if err != nil {
			return nil, one.at.errorf("within: %s", err)
		}
		b := record.Bound{Text: quantity.Clip(text, 40), Metric: m.Name, AtLeast: m.Better == metric.Higher}
		if b.Value, err = boundOf(m, text); err != nil {
			return nil, one.value.at.errorf("within: %s", err)
		}
		if !(b.Value > 0) || math.IsInf(b.Value, 1) {
			return nil, one.value.at.errorf("within: the bound %q is not above 0, where every figure lies", b.Text)
		}
		all = append(all, b)
	}
	return all, nil
}
