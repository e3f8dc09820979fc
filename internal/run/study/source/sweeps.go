package source

import (
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

const maxSweeps = 100

var sweepKeys = []string{"name", "hold", "vary"}

// readSweeps reads the sweeps of a study that varies some factors.
func readSweeps(e entry, whole []study.Varied) ([]study.Sweep, error) {
	if e.value.kind != list || len(e.value.items) == 0 || len(e.value.items) > maxSweeps {
		return nil, e.value.at.errorf("sweeps: expected a list of 1 to %d sweeps, each with a name and what it holds and varies", maxSweeps)
	}
	var all []study.Sweep
	for _, item := range e.value.items {
		w, err := readSweep(item, whole)
		if err != nil {
			return nil, err
		}
		for _, earlier := range all {
			if earlier.Name == w.Name {
				return nil, item.at.errorf("sweeps: %s is the name of two sweeps; first at %s", w.Name, earlier.At)
			}
		}
		all = append(all, w)
	}
	return all, nil
}

func readSweep(n *node, whole []study.Varied) (study.Sweep, error) {
	w := study.Sweep{At: n.at}
	if err := n.mappingOf(sweepKeys); err != nil {
		return w, err
	}
	e := n.get("name")
	if e == nil {
		return w, n.at.errorf(`sweeps: the key "name" is missing`)
	}
	var err error
	if w.Name, err = e.nameOf(); err != nil {
		return w, err
	}
	if e = n.get("hold"); e != nil {
		if w.Hold, err = readSettings(e.value, "hold"); err != nil {
			return w, err
		}
	}
	if e = n.get("vary"); e != nil {
		w.Vary, err = readVaried(e.value, func(f study.Factor, n *node) ([]study.Level, error) {
			return readSwept(f, n, study.FindVaried(whole, f.Name))
		})
	}
	return w, err
}

// readSwept reads the levels of a factor in a sweep: of one that varies in the
// whole study, some of its levels. Whole is nil for any other.
func readSwept(f study.Factor, n *node, whole *study.Varied) ([]study.Level, error) {
	if f.Kind == study.Bundle {
		if whole == nil {
			return nil, n.at.errorf("arm: the study has no arms; write them under its vary, as a mapping from names to levels")
		}
		f.Kind = study.Choice
		for _, l := range whole.Levels {
			f.Choices = append(f.Choices, l.Text)
		}
	}
	levels, err := readLevels(f, n)
	if err != nil || whole == nil {
		return levels, err
	}
	var names []string
	for _, l := range whole.Levels {
		names = append(names, l.Text)
	}
	for _, l := range levels {
		if !slices.Contains(names, l.Text) {
			return nil, study.Errorf(l.At, "%s: the study varies it at %s, without the level %s; %s", f.Name, whole.At, l.Text, quantity.Hint(l.Text, names))
		}
	}
	return levels, nil
}
