package source

import (
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// maxRungs bounds the arms of one ladder.
const maxRungs = 20

var ladderKeys = []string{"title", "arms", "steps"}

// readLadders reads the section ladder: the arms of one ladder, or a list of
// ladders, each as its arms or as a mapping.
func readLadders(tree *node, s *study.Study, scope study.Scope) error {
	e := tree.get("ladder")
	if e == nil {
		return nil
	}
	items := []*node{e.value}
	if e.value.kind == list && len(e.value.items) > 0 && e.value.items[0].kind != scalar {
		items = e.value.items
	}
	if len(items) > maxViews {
		return e.value.at.errorf("ladder: found %s; expected at most %d ladders", counted(e.value), maxViews)
	}
	var ladders []record.Ladder
	for _, item := range items {
		l, err := readLadder(item, scope)
		if err != nil {
			return err
		}
		ladders = append(ladders, l)
	}
	s.SetLadders(ladders)
	return nil
}

func readLadder(n *node, scope study.Scope) (record.Ladder, error) {
	var l record.Ladder
	if n.kind == list {
		n = &node{at: n.at, kind: mapping, entries: []entry{{"arms", n.at, n}}}
	}
	if err := n.mappingOf(ladderKeys); err != nil {
		return l, err
	}
	if err := n.texts("ladder", map[string]*string{"title": &l.Title}, "arms"); err != nil {
		return l, err
	}
	if err := readRungs(n.get("arms").value, &l, scope); err != nil {
		return l, err
	}
	if err := n.problem(scope.Ladder(l)); err != nil {
		return l, err
	}
	l.Steps = make([]record.Step, len(l.Arms)-1)
	return l, readSteps(n.get("steps"), l)
}

// readRungs reads the arms of a ladder; an error names the one that is wrong.
func readRungs(n *node, l *record.Ladder, scope study.Scope) error {
	if n.kind != list || len(n.items) > maxRungs {
		return n.at.errorf("ladder: found %s; expected a list of at most %d arms, in order", counted(n), maxRungs)
	}
	for _, item := range n.items {
		if item.kind != scalar {
			return item.at.errorf("ladder: found %s; expected an arm", item.kind)
		}
		if text := scope.Rung(l.Arms, item.text); text != "" {
			return item.at.errorf("ladder: %s", text)
		}
		l.Arms = append(l.Arms, item.text)
	}
	return nil
}

// readSteps reads the titles of a ladder's steps, which are all there or none.
func readSteps(e *entry, l record.Ladder) error {
	if e == nil {
		return nil
	}
	if e.value.kind != list || len(e.value.items) != len(l.Steps) {
		return e.value.at.errorf("steps: found %s; expected a list of %d titles, one for each step between two arms", counted(e.value), len(l.Steps))
	}
	for i, item := range e.value.items {
		title := strings.Join(strings.Fields(item.text), " ")
		if item.kind != scalar || title == "" || len(title) > study.MaxText {
			return item.at.errorf("steps: %q is not a title; expected a few words on what the step from %s to %s adds", quantity.Clip(title, 40), l.Arms[i], l.Arms[i+1])
		}
		l.Steps[i].Title = title
	}
	return nil
}
