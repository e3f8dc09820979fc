package study

import (
	"slices"

	"netdyno/internal/quantity"
)

// override merges typed levels into a file's study: a factor that is typed
// leaves its place in the file, whether it was held or varied there. What the
// file says of the results (published figures, charts, fits, searches, requirements) stays as far as
// the changed study still has what it speaks of.
func override(base, typed *node) (*Study, error) {
	if err := base.mappingOf(topKeys); err != nil {
		return nil, err
	}
	primary := base.takePrimary(typed)
	var original *Study
	for _, key := range []string{"published", "charts", "fits", "reaches", "claims", "require"} {
		if base.get(key) == nil {
			continue
		}
		if original == nil {
			var err error
			if original, err = build(base); err != nil {
				return nil, err
			}
		}
		base.remove(key)
	}
	base.replaceEnds(typed)
	if typed.sets("message") {
		base.forgetMessage(typed)
	}
	if typed.get("blocks") != nil && typed.get("continue") == nil {
		base.remove("continue") // whoever types the blocks means those alone
	}
	for _, e := range typed.entries {
		var err error
		switch e.key {
		case "hold", "vary":
			err = base.overrideFactors(e.key, e.value)
		case "compare":
			into := base.section(e.key, e.at)
			for _, c := range e.value.entries {
				into.remove(c.key)
				into.put(c.key, c.at, c.value)
			}
		default:
			base.remove(e.key)
			base.put(e.key, e.at, e.value)
		}
		if err != nil {
			return nil, err
		}
	}
	base.keepAlso()
	s, err := build(base)
	if err == nil {
		s.keepPrimary(primary)
	}
	if err == nil && original != nil {
		s.keepPublished(original)
		s.keepViews(original)
		s.keepClaims(original)
		s.keepRequires(original, typed.get("require") != nil)
	}
	return s, err
}

func (n *node) overrideFactors(section string, typed *node) error {
	for _, e := range typed.entries {
		if e.key == armFactor {
			if err := n.selectArms(e); err != nil {
				return err
			}
			continue
		}
		if arm, where := n.armThatSets(e.key); arm != "" {
			return e.at.errorf("%s cannot be overridden: arm %s sets it (%s); choose arms by arm=NAME,…", e.key, arm, where)
		}
		if done, err := n.overrideSweeps(section, e); err != nil || done {
			if err != nil {
				return err
			}
			continue
		}
		for _, from := range []string{"hold", "vary"} {
			if old := n.get(from); old != nil && from == section && old.value.get(e.key) != nil {
				*old.value.get(e.key) = e // keeps the order of the file
			} else if old != nil {
				old.value.remove(e.key)
			}
		}
		if into := n.section(section, e.at); into.get(e.key) == nil {
			into.put(e.key, e.at, e.value)
		}
	}
	return nil
}

// arms returns the mapping of the file's bundles, or nil.
func (n *node) arms() *node {
	if vary := n.get("vary"); vary != nil {
		if arm := vary.value.get(armFactor); arm != nil && arm.value.kind == mapping {
			return arm.value
		}
	}
	return nil
}

func (n *node) armThatSets(factor string) (arm string, where place) {
	if arms := n.arms(); arms != nil {
		for _, a := range arms.entries {
			if e := a.value.get(factor); e != nil {
				return a.key, e.at
			}
		}
	}
	return "", place{}
}

// selectArms keeps the bundles that were typed, in the typed order.
func (n *node) selectArms(typed entry) error {
	arms := n.arms()
	if arms == nil {
		return typed.at.errorf("the study has no arms to choose from")
	}
	var names []string
	for _, a := range arms.entries {
		names = append(names, a.key)
	}
	var chosen []entry
	for _, item := range typed.value.items {
		i := slices.Index(names, item.text)
		if i < 0 {
			return typed.at.errorf("the study has no arm %q; %s", clip(item.text, 80), quantity.Hint(item.text, names))
		}
		if slices.ContainsFunc(chosen, func(c entry) bool { return c.key == item.text }) {
			return typed.at.errorf("arm %s is chosen twice", item.text)
		}
		chosen = append(chosen, arms.entries[i])
	}
	arms.entries = chosen
	return n.selectInSweeps(typed)
}
