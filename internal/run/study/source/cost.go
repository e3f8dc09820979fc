package source

import (
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

var costKeys = []string{"title", "metric", "per", "terms", "holdout", "where"}

// readCosts reads the section costs: a list of models.
func readCosts(tree *node, s *study.Study, scope study.Scope) (err error) {
	s.Costs, err = views(tree, "costs", costKeys, func(n *node) (record.Cost, error) {
		var c record.Cost
		err := n.texts("cost", map[string]*string{"title": &c.Title, "metric": &c.Metric, "per": &c.Per}, "title", "metric", "terms")
		if err == nil {
			c.Terms, err = n.names("terms", maxTerms)
		}
		if err == nil {
			c.Holdout, err = n.holdout()
		}
		if err == nil {
			c.Where, err = n.where()
		}
		if err == nil {
			err = n.problem(scope.Cost(c))
		}
		return c, err
	})
	return err
}

// holdout reads the levels whose cells a model does not see, in canonical text by
// factor; nil for none.
func (n *node) holdout() (map[string][]string, error) {
	e := n.get("holdout")
	if e == nil {
		return nil, nil
	}
	if e.value.kind != mapping {
		return nil, e.value.at.errorf("holdout: found %s; expected a mapping from factors to lists of levels", e.value.kind)
	}
	held := map[string][]string{}
	for _, of := range e.value.entries {
		v, err := readVariedFactor(of, readLevels)
		if err != nil {
			return nil, err
		}
		for _, l := range v.Levels {
			held[v.Factor] = append(held[v.Factor], l.Text)
		}
	}
	return held, nil
}
