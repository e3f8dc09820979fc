package study

import (
	"slices"
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

func (s *Study) readPublished(tree *node) error {
	e := tree.get("published")
	if e == nil {
		return nil
	}
	if e.value.kind != list {
		return e.value.at.errorf("published: found %s; expected a list of figures, each with %s", e.value.kind, strings.Join(publishedKeys, ", "))
	}
	for _, item := range e.value.items {
		p, err := s.readFigure(item)
		if err != nil {
			return err
		}
		s.Published = append(s.Published, p)
	}
	return nil
}

func (s *Study) readFigure(n *node) (record.Published, error) {
	var p record.Published
	if err := n.mappingOf(publishedKeys); err != nil {
		return p, err
	}
	texts := map[string]*string{"source": &p.Source, "metric": &p.Metric, "arm": &p.Arm, "base": &p.Base, "cell": &p.Cell, "note": &p.Note}
	for i := range n.entries {
		e := &n.entries[i]
		text, err := e.scalarOf("a single value")
		if err != nil {
			return p, err
		}
		if into := texts[e.key]; into != nil {
			*into = strings.Join(strings.Fields(text), " ")
			continue
		}
		if p.Ratio, err = strconv.ParseFloat(text, 64); err != nil || !(p.Ratio > 0 && p.Ratio < 1e9) {
			return p, e.value.at.errorf("ratio: %q is not a ratio of arm to base; expected a number above 0", clip(text, 40))
		}
	}
	for _, key := range []string{"source", "metric", "arm", "base", "ratio"} {
		if n.get(key) == nil {
			return p, n.at.errorf("published: the key %q is missing", key)
		}
	}
	if !slices.Contains(metricNames(), p.Metric) {
		return p, n.get("metric").value.at.errorf("metric: unknown metric %q; %s", clip(p.Metric, 80), quantity.Hint(p.Metric, metricNames()))
	}
	arms := factorOf(s.compared()).Levels
	for _, key := range []string{"arm", "base"} {
		if text := *texts[key]; !slices.Contains(arms, text) {
			return p, n.get(key).value.at.errorf("%s: %s has no level %q; %s", key, s.Compare.Factor, clip(text, 80), quantity.Hint(text, arms))
		}
	}
	if p.Cell != "" && !s.hasCell(p.Cell) {
		return p, n.get("cell").value.at.errorf("cell: no cell %q; cells are named by every factor that varies beside %s, such as %q",
			clip(p.Cell, 80), s.Compare.Factor, s.firstCell())
	}
	return p, nil
}

// keepPublished takes over those figures of the original study that still
// have their arms and their cell, under the cell's present name.
func (s *Study) keepPublished(original *Study) {
	if s.Compare.Factor != original.Compare.Factor {
		return
	}
	arms := factorOf(s.compared()).Levels
	for _, p := range original.Published {
		if !slices.Contains(arms, p.Arm) || !slices.Contains(arms, p.Base) {
			continue
		}
		if p.Cell == "" {
			s.Published = append(s.Published, p)
			continue
		}
		was, _ := parseCell(p.Cell, original.others())
		if cell, ok := s.cellNow(was, original); ok {
			p.Cell = cell
			s.Published = append(s.Published, p)
		}
	}
}
