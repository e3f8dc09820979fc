package study

import (
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

const maxLeast = 8

var reachKeys = []string{"title", "metric", "share", "least", "where"}

func (s *Study) readReaches(tree *node) (err error) {
	s.Reaches, err = views(tree, "reaches", reachKeys, s.readReach)
	return err
}

func (s *Study) readReach(n *node) (record.Reach, error) {
	var r record.Reach
	var share string
	err := n.texts("reach", map[string]*string{"title": &r.Title, "metric": &r.Metric, "share": &share}, "title", "metric", "least")
	if err != nil {
		return r, err
	}
	r.Share = 0.95
	if share != "" {
		if r.Share, err = quantity.ParseShare(share); err != nil || !(r.Share > 0 && r.Share <= 1) {
			return r, n.placeOf("share").errorf("share: %q is not a share of the best; expected more than 0 to 1, such as 95%%", clip(share, 40))
		}
	}
	if r.Least, err = n.factors("least", maxLeast); err != nil {
		return r, err
	}
	if r.Where, err = n.where(); err != nil {
		return r, err
	}
	if key, text := s.reachProblem(r); text != "" {
		return r, n.placeOf(key).errorf("%s: %s", key, text)
	}
	return r, nil
}

// reachProblem says which key of a search asks for what the study does not
// have, and why; both are "" for a sound one.
func (s *Study) reachProblem(r record.Reach) (key, text string) {
	m, err := metric.Named(r.Metric)
	switch {
	case err != nil:
		return "metric", unknown("metric", r.Metric, metricNames())
	case m.Better != metric.Higher:
		return "metric", r.Metric + " is no metric of which more is better; expected one, such as " + strings.Join(highMetrics(), ", ")
	}
	for i, factor := range r.Least {
		if slices.Contains(r.Least[:i], factor) {
			return "least", factor + " is named twice"
		}
		if text := s.axisProblem(factor); text != "" {
			return "least", text
		}
	}
	return s.whereProblem(r.Where, nil)
}

func highMetrics() []string {
	var names []string
	for _, m := range metric.All() {
		if m.Better == metric.Higher && len(names) < 3 {
			names = append(names, m.Name)
		}
	}
	return names
}
