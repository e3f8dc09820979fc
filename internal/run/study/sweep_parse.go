package study

import (
	"slices"

	"netdyno/internal/quantity"
)

const maxSweeps = 100

var sweepKeys = []string{"name", "hold", "vary"}

func (s *Study) readSweeps(tree *node) error {
	e := tree.get("sweeps")
	if e == nil {
		return nil
	}
	if e.value.kind != list || len(e.value.items) == 0 || len(e.value.items) > maxSweeps {
		return e.value.at.errorf("sweeps: expected a list of 1 to %d sweeps, each with a name and what it holds and varies", maxSweeps)
	}
	for _, item := range e.value.items {
		w, err := s.readSweep(item)
		if err != nil {
			return err
		}
		for _, earlier := range s.Sweeps {
			if earlier.Name == w.Name {
				return w.at.errorf("sweeps: %s is the name of two sweeps; first at %s", w.Name, earlier.at)
			}
		}
		s.Sweeps = append(s.Sweeps, w)
	}
	return nil
}

func (s *Study) readSweep(n *node) (Sweep, error) {
	w := Sweep{at: n.at}
	if err := n.mappingOf(sweepKeys); err != nil {
		return w, err
	}
	e := n.get("name")
	if e == nil {
		return w, n.at.errorf(`sweeps: the key "name" is missing`)
	}
	var err error
	if w.Name, err = e.scalarOf("a name"); err != nil {
		return w, err
	}
	if !properName.MatchString(w.Name) {
		return w, e.value.at.errorf("name: %q is not a name; expected letters, digits, ., _, + and -", clip(w.Name, 80))
	}
	if e = n.get("hold"); e != nil {
		if w.Hold, err = readSettings(e.value, "hold"); err != nil {
			return w, err
		}
	}
	if e = n.get("vary"); e != nil {
		w.Vary, err = readVaried(e.value, s.readSwept)
	}
	return w, err
}

// readSwept reads the levels of a factor in a sweep: of one that varies in the
// whole study, some of its levels.
func (s *Study) readSwept(f Factor, n *node) ([]Level, error) {
	whole := s.varied(f.Name)
	if f.Kind == Bundle {
		if whole == nil {
			return nil, n.at.errorf("arm: the study has no arms; write them under its vary, as a mapping from names to levels")
		}
		f.Kind = Choice
		for _, l := range whole.Levels {
			f.Choices = append(f.Choices, l.Text)
		}
	}
	levels, err := readLevels(f, n)
	if err != nil || whole == nil {
		return levels, err
	}
	names := factorOf(*whole).Levels
	for _, l := range levels {
		if !slices.Contains(names, l.Text) {
			return nil, l.at.errorf("%s: the study varies it at %s, without the level %s; %s", f.Name, whole.at, l.Text, quantity.Hint(l.Text, names))
		}
	}
	return levels, nil
}
