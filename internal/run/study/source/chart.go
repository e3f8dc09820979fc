package source

import (
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

var chartKeys = []string{"title", "kind", "metric", "x", "y", "by", "against", "where", "arms"}

// axes says which keys a kind of chart needs and which it may have.
var axes = map[record.ChartKind]struct{ needs, may []string }{
	record.Lines: {needs: []string{"metric", "x"}, may: []string{"by"}},
	record.Heat:  {needs: []string{"metric", "x", "y"}},
	record.Front: {needs: []string{"metric", "against"}, may: []string{"by"}},
}

func readCharts(tree *node, s *study.Study, scope study.Scope) (err error) {
	s.Charts, err = views(tree, "charts", chartKeys, func(n *node) (record.Chart, error) {
		c, err := readChart(n)
		if err == nil {
			err = n.problem(scope.Chart(c))
		}
		return c, err
	})
	return err
}

func readChart(n *node) (record.Chart, error) {
	var c record.Chart
	var kind string
	err := n.texts("chart", map[string]*string{
		"title": &c.Title, "kind": &kind, "metric": &c.Metric, "x": &c.X, "y": &c.Y, "by": &c.By, "against": &c.Against,
	}, "title", "kind")
	if err != nil {
		return c, err
	}
	c.Kind = record.ChartKind(kind)
	allowed, known := axes[c.Kind]
	if !known {
		return c, n.get("kind").value.at.errorf("kind: unknown kind %q; %s", quantity.Clip(kind, 80),
			quantity.Hint(kind, []string{string(record.Lines), string(record.Heat), string(record.Front)}))
	}
	for _, key := range []string{"metric", "x", "y", "by", "against"} {
		switch e := n.get(key); {
		case e == nil && slices.Contains(allowed.needs, key):
			return c, n.at.errorf("chart: the key %q is missing; %s needs %s", key, kind, strings.Join(allowed.needs, ", "))
		case e != nil && !slices.Contains(allowed.needs, key) && !slices.Contains(allowed.may, key):
			return c, e.at.errorf("chart: %s has no %s; it has %s", kind, key, strings.Join(append(slices.Clone(allowed.needs), allowed.may...), ", "))
		}
	}
	if c.Where, err = n.where(); err != nil {
		return c, err
	}
	if e := n.get("arms"); e != nil {
		for _, item := range listed(e.value) {
			c.Arms = append(c.Arms, item.text)
		}
	}
	return c, nil
}
