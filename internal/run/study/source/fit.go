package source

import (
	"strconv"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

const maxTerms = 16

var fitKeys = []string{"title", "metric", "per", "terms", "where", "source", "published"}

func readFits(tree *node, s *study.Study, scope study.Scope) (err error) {
	s.Fits, err = views(tree, "fits", fitKeys, func(n *node) (record.Fit, error) {
		f, err := readFit(n)
		if err == nil {
			err = n.problem(scope.Fit(f))
		}
		return f, err
	})
	return err
}

func readFit(n *node) (record.Fit, error) {
	var f record.Fit
	err := n.texts("fit", map[string]*string{
		"title": &f.Title, "metric": &f.Metric, "per": &f.Per, "source": &f.Source,
	}, "title", "metric", "per", "terms")
	if err != nil {
		return f, err
	}
	if f.Terms, err = n.names("terms", maxTerms); err != nil {
		return f, err
	}
	if f.Published, err = coefficients(n, len(f.Terms)); err != nil {
		return f, err
	}
	f.Where, err = n.where()
	return f, err
}

// coefficients reads the published coefficients of a fit, one for each term.
func coefficients(n *node, terms int) ([]float64, error) {
	e := n.get("published")
	if e == nil {
		return nil, nil
	}
	if n.get("source") == nil {
		return nil, e.at.errorf("published: the key \"source\" is missing; expected who published the coefficients")
	}
	items := listed(e.value)
	if len(items) != terms {
		return nil, e.value.at.errorf("published: found %d coefficients; expected one for each of the %d terms", len(items), terms)
	}
	var out []float64
	for _, item := range items {
		x, err := strconv.ParseFloat(item.text, 64)
		if err != nil || !(x > -1e12 && x < 1e12) {
			return nil, item.at.errorf("published: %q is not a coefficient; expected a number", quantity.Clip(item.text, 40))
		}
		out = append(out, x)
	}
	return out, nil
}
