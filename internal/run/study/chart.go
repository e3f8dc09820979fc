package study

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

var chartKeys = []string{"title", "kind", "metric", "x", "y", "by", "against", "where", "arms"}

// axes says which keys a kind of chart needs and which it may have.
var axes = map[record.ChartKind]struct{ needs, may []string }{
	record.Lines: {needs: []string{"metric", "x"}, may: []string{"by"}},
	record.Heat:  {needs: []string{"metric", "x", "y"}},
	record.Front: {needs: []string{"metric", "against"}, may: []string{"by"}},
}

func (s *Study) readCharts(tree *node) (err error) {
	s.Charts, err = views(tree, "charts", chartKeys, s.readChart)
	return err
}

func (s *Study) readChart(n *node) (record.Chart, error) {
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
		return c, n.get("kind").value.at.errorf("kind: unknown kind %q; %s", clip(kind, 80),
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
	if key, text := s.chartProblem(c); text != "" {
		return c, n.placeOf(key).errorf("%s: %s", key, text)
	}
	return c, nil
}

// chartProblem says which key of a chart asks for what the study does not
// have, and why; both are "" for a sound one.
func (s *Study) chartProblem(c record.Chart) (key, text string) {
	for _, m := range []struct{ key, name string }{{"metric", c.Metric}, {"against", c.Against}} {
		if m.name != "" && !slices.Contains(metricNames(), m.name) {
			return m.key, unknown("metric", m.name, metricNames())
		}
	}
	for _, f := range []struct{ key, name string }{{"x", c.X}, {"y", c.Y}} {
		if f.name != "" {
			if text := s.axisProblem(f.name); text != "" {
				return f.key, text
			}
		}
	}
	if c.By != "" && c.By != s.Compare.Factor {
		if text := s.factorProblem(c.By); text != "" {
			return "by", text
		}
	}
	arms := factorOf(s.compared()).Levels
	for _, name := range c.Arms {
		if !slices.Contains(arms, name) {
			return "arms", unknown("level of "+s.Compare.Factor, name, arms)
		}
	}
	return s.whereProblem(c.Where, c.Arms)
}

// texts reads the single values of a mapping; those named must be there.
func (n *node) texts(what string, into map[string]*string, needed ...string) error {
	for _, key := range needed {
		if n.get(key) == nil {
			return n.at.errorf("%s: the key %q is missing", what, key)
		}
	}
	for _, key := range slices.Sorted(maps.Keys(into)) {
		e := n.get(key)
		if e == nil {
			continue
		}
		text, err := e.scalarOf("a single value")
		if err != nil {
			return err
		}
		if len(text) > maxText || text == "" {
			return e.value.at.errorf("%s: the text has %d bytes; expected 1 to %d", key, len(text), maxText)
		}
		*into[key] = strings.Join(strings.Fields(text), " ")
	}
	return nil
}

// where reads the levels to which a chart or a fit is confined, in canonical
// text.
func (n *node) where() (map[string]string, error) {
	e := n.get("where")
	if e == nil {
		return nil, nil
	}
	settings, err := readSettings(e.value, "where")
	if err != nil {
		return nil, err
	}
	where := map[string]string{}
	for _, x := range settings {
		where[x.Factor] = x.Level.Text
	}
	return where, nil
}

// placeOf returns where a key's value stands, or the mapping itself.
func (n *node) placeOf(key string) place {
	if e := n.get(key); e != nil {
		return e.value.at
	}
	return n.at
}

// listed returns a list's items; of a single value, itself.
func listed(n *node) []*node {
	if n.kind == scalar {
		return []*node{n}
	}
	return n.items
}

func unknown(what, name string, names []string) string {
	return fmt.Sprintf("unknown %s %q; %s", what, clip(name, 80), quantity.Hint(name, names))
}
