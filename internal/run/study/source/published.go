package source

import (
	"strconv"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

var publishedKeys = []string{"source", "metric", "arm", "base", "cell", "under", "ratio", "shape", "unmeasured", "note"}

func readPublished(tree *node, s *study.Study, scope study.Scope) error {
	e := tree.get("published")
	if e == nil {
		return nil
	}
	if e.value.kind != list {
		return e.value.at.errorf("published: found %s; expected a list of figures, each with %s", e.value.kind, strings.Join(publishedKeys, ", "))
	}
	for _, item := range e.value.items {
		p, err := readFigure(item, s, scope)
		if err != nil {
			return err
		}
		s.Published = append(s.Published, p)
	}
	return nil
}

func readFigure(n *node, s *study.Study, scope study.Scope) (record.Published, error) {
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
		return p, n.positionOf("ratio").errorf("ratio: %q is not a ratio of arm to base; expected a number above 0", quantity.Clip(ratio, 40))
	}
	if p.Shape, err = n.levels("shape"); err != nil {
		return p, err
	}
	if err := n.problem(scope.Published(p)); err != nil {
		return p, err
	}
	p.Under, err = readUnder(n, cell, s)
	return p, err
}
