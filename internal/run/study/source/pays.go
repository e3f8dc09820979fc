package source

import (
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// maxPaysArms bounds each side of a replacement.
const maxPaysArms = 20

var paysKeys = []string{"title", "arms", "instead_of", "where"}

// readPays reads the section pays: a list of replacements.
func readPays(tree *node, s *study.Study, scope study.Scope) (err error) {
	s.Pays, err = views(tree, "pays", paysKeys, func(n *node) (record.Pays, error) {
		var p record.Pays
		err := n.texts("pays", map[string]*string{"title": &p.Title}, "title", "arms", "instead_of")
		if err == nil {
			p.Arms, err = n.names("arms", maxPaysArms)
		}
		if err == nil {
			p.InsteadOf, err = n.names("instead_of", maxPaysArms)
		}
		if err == nil {
			p.Where, err = n.where()
		}
		if err == nil {
			err = n.problem(scope.Pays(p))
		}
		return p, err
	})
	return err
}
