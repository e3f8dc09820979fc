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
	var cell, ratio string
	texts := map[string]*string{
		"source": &p.Source, "metric": &p.Metric, "arm": &p.Arm, "base": &p.Base, "cell": &cell, "ratio": &ratio,
		"unmeasured": &p.Unmeasured, "note": &p.Note,
	}
	if err := n.texts("published", texts, "source", "metric", "arm", "base", "ratio"); err != nil {
		return p, err
	}
	var err error
	if p.Ratio, err = strconv.ParseFloat(ratio, 64); err != nil || !(p.Ratio > 0 && p.Ratio < 1e9) {
		return p, n.placeOf("ratio").errorf("ratio: %q is not a ratio of arm to base; expected a number above 0", clip(ratio, 40))
	}
	if !slices.Contains(metricNames(), p.Metric) {
		return p, n.placeOf("metric").errorf("metric: unknown metric %q; %s", clip(p.Metric, 80), quantity.Hint(p.Metric, metricNames()))
	}
	if err := s.checkFigureArms(n, p); err != nil {
		return p, err
	}
	p.Under, err = s.readUnder(n, cell)
	return p, err
}

// checkFigureArms refuses arms that the study has not, unless the figure says
// why they are missing; and that reason where nothing is missing.
func (s *Study) checkFigureArms(n *node, p record.Published) error {
	arms := factorOf(s.compared()).Levels
	if p.Unmeasured != "" {
		if slices.Contains(arms, p.Arm) && slices.Contains(arms, p.Base) {
			return n.placeOf("unmeasured").errorf("unmeasured: the study has the arms %s and %s; leave the key out, or name what it has not", p.Arm, p.Base)
		}
		return nil
	}
	for _, side := range []struct{ key, arm string }{{"arm", p.Arm}, {"base", p.Base}} {
		if !slices.Contains(arms, side.arm) {
			return n.placeOf(side.key).errorf("%s: %s has no level %q; %s", side.key, s.Compare.Factor, clip(side.arm, 80), quantity.Hint(side.arm, arms))
		}
	}
	return nil
}

// keepPublished takes over those figures of the original study that still
// have their arms. Their conditions stay what they were: whether they hold is
// found out when the run is read.
func (s *Study) keepPublished(original *Study) {
	if s.Compare.Factor != original.Compare.Factor {
		return
	}
	arms := factorOf(s.compared()).Levels
	for _, p := range original.Published {
		if p.Unmeasured != "" || slices.Contains(arms, p.Arm) && slices.Contains(arms, p.Base) {
			s.Published = append(s.Published, p)
		}
	}
}
