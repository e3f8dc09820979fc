package source

import (
	"slices"

	"netdyno/internal/run/study"
)

// ParseFile reads a study file. The name appears in errors, each of which is
// a *study.Error with file, line and column.
func ParseFile(name string, data []byte) (*study.Study, error) {
	d, err := readFile(name, data)
	if err != nil {
		return nil, err
	}
	return d.complete()
}

func readFile(name string, data []byte) (draft, error) {
	tree, err := readYAML(name, data)
	if err != nil {
		return draft{}, err
	}
	return readDraft(tree)
}

// defaultSeed is the seed of a study that names none.
const defaultSeed = 1

// complete makes a study of a draft, which stays as it is.
func (d *draft) complete() (*study.Study, error) {
	s := &study.Study{
		Name: d.name, Question: d.question, At: d.at, Seed: defaultSeed,
		Hold: slices.Clone(d.hold), Vary: slices.Clone(d.vary), Arms: slices.Clone(d.arms), Sweeps: slices.Clone(d.sweeps),
	}
	for i := range s.Arms {
		s.Arms[i].Settings = slices.Clip(s.Arms[i].Settings) // an implied codec is the study's, not the draft's
	}
	for i := range s.Sweeps {
		s.Sweeps[i].Hold = slices.Clip(s.Sweeps[i].Hold)
	}
	s.Mesh = d.mesh != nil && d.mesh.wanted
	if d.probes != nil {
		s.Probes = int(d.probes.Value)
	}
	if d.seed != nil {
		s.Seed = uint64(d.seed.Value)
	}
	blocks := d.blocks
	if blocks == nil && d.race != nil {
		blocks = d.race.blocks()
	}
	if err := setLooks(s, blocks, d.further); err != nil {
		return nil, err
	}
	if err := d.setCapacity(s); err != nil {
		return nil, err
	}
	if err := s.Complete(); err != nil {
		return nil, err
	}
	if err := d.compare.apply(s); err != nil {
		return nil, err
	}
	if err := d.settle.apply(s); err != nil {
		return nil, err
	}
	if err := d.race.apply(s); err != nil {
		return nil, err
	}
	if d.views != nil {
		if err := readViews(d.views, s); err != nil {
			return nil, err
		}
	}
	if err := applyRequires(d.requires, s); err != nil {
		return nil, err
	}
	return s, s.CheckSize()
}

// readViews reads those sections of a file into its complete study.
func readViews(tree *node, s *study.Study) error {
	scope := s.Scope()
	for _, read := range []func(*node, *study.Study, study.Scope) error{readPublished, readCharts, readFits, readReaches, readChoices, readPays, readCosts, readClaims, readLadders} {
		if err := read(tree, s, scope); err != nil {
			return err
		}
	}
	return nil
}
