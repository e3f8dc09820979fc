package source

import (
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

const maxLeast = 8

var reachKeys = []string{"title", "metric", "share", "least", "where"}

func readReaches(tree *node, s *study.Study, scope study.Scope) (err error) {
	s.Reaches, err = views(tree, "reaches", reachKeys, func(n *node) (record.Reach, error) {
		r, err := readReach(n)
		if err == nil {
			err = n.problem(scope.Reach(r))
		}
		return r, err
	})
	return err
}

func readReach(n *node) (record.Reach, error) {
	var r record.Reach
	var share string
	err := n.texts("reach", map[string]*string{"title": &r.Title, "metric": &r.Metric, "share": &share}, "title", "metric", "least")
	if err != nil {
		return r, err
	}
	r.Share = 0.95
	if share != "" {
		if r.Share, err = quantity.ParseShare(share); err != nil || !(r.Share > 0 && r.Share <= 1) {
			return r, n.positionOf("share").errorf("share: %q is not a share of the best; expected more than 0 to 1, such as 95%%", quantity.Clip(share, 40))
		}
	}
	if r.Least, err = n.names("least", maxLeast); err != nil {
		return r, err
	}
	r.Where, err = n.where()
	return r, err
}
