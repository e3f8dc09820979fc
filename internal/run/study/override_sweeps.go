package study

import "slices"

// sweeps returns the file's sweeps, or nil.
func (n *node) sweeps() []*node {
	if e := n.get("sweeps"); e != nil && e.value.kind == list {
		return e.value.items
	}
	return nil
}

// overrideSweeps gives a typed factor to the sweeps. One level is held
// everywhere, so each sweep forgets its own. Several levels replace those of
// the sweeps that vary the factor, which is then done; sweeps that hold it are
// what they are by that level and keep it.
func (n *node) overrideSweeps(section string, typed entry) (done bool, err error) {
	vary, whole := n.get("vary"), false
	if vary != nil {
		whole = vary.value.get(typed.key) != nil
	}
	var holds *node
	for _, w := range n.sweeps() {
		hold, own := w.get("hold"), w.get("vary")
		if section == "hold" || whole {
			for _, e := range []*entry{hold, own} {
				if e != nil {
					e.value.remove(typed.key)
				}
			}
			continue
		}
		if hold != nil && hold.value.get(typed.key) != nil {
			holds = w
		}
		if own != nil && own.value.get(typed.key) != nil {
			*own.value.get(typed.key) = typed
			done = true
		}
	}
	if holds != nil && !done {
		at := holds.get("hold").value.get(typed.key)
		return false, typed.at.errorf("%s cannot be given several levels: sweep %s holds it at %s (%s) and none varies it; type one level for all sweeps",
			typed.key, holds.get("name").value.text, at.value.text, at.value.at)
	}
	return done, nil
}

// selectInSweeps keeps the chosen arms in sweeps that name theirs; a sweep
// without any goes.
func (n *node) selectInSweeps(typed entry) error {
	e := n.get("sweeps")
	if e == nil {
		return nil
	}
	chosen := func(item *node) bool {
		return slices.ContainsFunc(typed.value.items, func(c *node) bool { return c.text == item.text })
	}
	e.value.items = slices.DeleteFunc(e.value.items, func(w *node) bool {
		vary := w.get("vary")
		if vary == nil || vary.value.get(armFactor) == nil {
			return false
		}
		arms := vary.value.get(armFactor).value
		arms.items = slices.DeleteFunc(slices.Clone(listed(arms)), func(item *node) bool { return !chosen(item) })
		arms.kind = list
		return len(arms.items) == 0
	})
	if len(e.value.items) == 0 {
		return typed.at.errorf("no sweep of the study has any of these arms")
	}
	return nil
}
