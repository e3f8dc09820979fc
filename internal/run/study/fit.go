package study

import (
	"slices"
	"strconv"

	"netdyno/internal/record"
)

const maxTerms = 16

var fitKeys = []string{"title", "metric", "per", "terms", "where", "source", "published"}

func (s *Study) readFits(tree *node) (err error) {
	s.Fits, err = views(tree, "fits", fitKeys, s.readFit)
	return err
}

func (s *Study) readFit(n *node) (record.Fit, error) {
	var f record.Fit
	err := n.texts("fit", map[string]*string{
		"title": &f.Title, "metric": &f.Metric, "per": &f.Per, "source": &f.Source,
	}, "title", "metric", "per", "terms")
	if err != nil {
		return f, err
	}
	if f.Terms, err = n.factors("terms", maxTerms); err != nil {
		return f, err
	}
	if f.Published, err = coefficients(n, len(f.Terms)); err != nil {
		return f, err
	}
	if f.Where, err = n.where(); err != nil {
		return f, err
	}
	if key, text := s.fitProblem(f); text != "" {
		return f, n.placeOf(key).errorf("%s: %s", key, text)
	}
	return f, nil
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
			return nil, item.at.errorf("published: %q is not a coefficient; expected a number", clip(item.text, 40))
		}
		out = append(out, x)
	}
	return out, nil
}

// fitProblem says which key of a fit asks for what the study does not have,
// and why; both are "" for a sound one.
func (s *Study) fitProblem(f record.Fit) (key, text string) {
	if !slices.Contains(metricNames(), f.Metric) {
		return "metric", unknown("metric", f.Metric, metricNames())
	}
	if text := s.axisProblem(f.Per); text != "" {
		return "per", text
	}
	for i, term := range f.Terms {
		if term == f.Per || slices.Contains(f.Terms[:i], term) {
			return "terms", term + " is named twice"
		}
		if text := s.axisProblem(term); text != "" {
			return "terms", text
		}
	}
	return s.whereProblem(f.Where, nil)
}
