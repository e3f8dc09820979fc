package study

// readSettings reads a mapping from factors to one level each.
func readSettings(n *node, where string) ([]Setting, error) {
	if n.kind != mapping {
		return nil, n.at.errorf("%s: found %s; expected a mapping from factors to levels", where, n.kind)
	}
	var settings []Setting
	for _, e := range n.entries {
		f, err := factorAt(e)
		if err != nil {
			return nil, err
		}
		if e.value.kind != scalar {
			return nil, e.value.at.errorf("%s: found %s; %s has one level per factor, several belong under vary", e.key, e.value.kind, where)
		}
		level, err := levelAt(f, e.value)
		if err != nil {
			return nil, err
		}
		settings = append(settings, Setting{e.key, level})
	}
	return settings, nil
}

func factorAt(e entry) (Factor, error) {
	f, err := factorNamed(e.key)
	if err != nil {
		return f, e.at.errorf("%s", err)
	}
	if f.Kind == Whole {
		return f, e.at.errorf("%s belongs to the whole study, not to a trial; write it at the top of the file", f.Name)
	}
	return f, nil
}

func levelAt(f Factor, n *node) (Level, error) {
	l, err := f.level(n.text)
	if err != nil {
		return l, n.at.errorf("%s", err)
	}
	l.at = n.at
	return l, nil
}

func (s *Study) readVary(tree *node) error {
	e := tree.get("vary")
	if e == nil {
		return nil
	}
	var err error
	s.Vary, err = readVaried(e.value, func(f Factor, n *node) ([]Level, error) {
		if f.Kind == Bundle {
			return s.readArms(n)
		}
		return readLevels(f, n)
	})
	return err
}

// readVaried reads a mapping from factors to several levels each.
func readVaried(n *node, levels func(Factor, *node) ([]Level, error)) ([]Varied, error) {
	if n.kind != mapping {
		return nil, n.at.errorf("vary: found %s; expected a mapping from factors to lists of levels", n.kind)
	}
	var all []Varied
	for _, e := range n.entries {
		f, err := factorAt(e)
		if err != nil {
			return nil, err
		}
		v := Varied{Factor: e.key, at: e.at}
		if v.Levels, err = levels(f, e.value); err != nil {
			return nil, err
		}
		all = append(all, v)
	}
	return all, nil
}

func readLevels(f Factor, n *node) ([]Level, error) {
	items := n.items
	switch {
	case n.kind == scalar:
		items = []*node{n}
	case n.kind == mapping:
		return nil, n.at.errorf("%s: found %s; expected a list of levels", f.Name, n.kind)
	case len(items) == 0:
		return nil, n.at.errorf("%s: the list of levels is empty", f.Name)
	case len(items) > maxLevels:
		return nil, n.at.errorf("%s: the list has %d levels; expected at most %d", f.Name, len(items), maxLevels)
	}
	var levels []Level
	for _, item := range items {
		if item.kind != scalar {
			return nil, item.at.errorf("%s: found %s; expected a level", f.Name, item.kind)
		}
		l, err := levelAt(f, item)
		if err != nil {
			return nil, err
		}
		for _, earlier := range levels {
			if earlier.Text == l.Text {
				return nil, item.at.errorf("%s: the level %s is listed twice", f.Name, l.Text)
			}
		}
		levels = append(levels, l)
	}
	return levels, nil
}

// readArms reads the bundles and returns their names as levels.
func (s *Study) readArms(n *node) ([]Level, error) {
	if n.kind != mapping || len(n.entries) == 0 || len(n.entries) > maxArms {
		return nil, n.at.errorf("arm: expected a mapping from 1 to %d names to their levels, such as {fast: {server: go-epoll}}", maxArms)
	}
	var names []Level
	for _, e := range n.entries {
		if !properName.MatchString(e.key) {
			return nil, e.at.errorf("arm: %q is not a name; expected letters, digits, ., _, + and -", clip(e.key, 80))
		}
		settings, err := readSettings(e.value, "arm "+e.key)
		if err != nil {
			return nil, err
		}
		s.Arms = append(s.Arms, Arm{Name: e.key, Settings: settings, at: e.at})
		names = append(names, Level{Text: e.key, at: e.at})
	}
	return names, nil
}
