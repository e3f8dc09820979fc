// Package source reads a study from a file or from a command line, and writes it
// as a file. What was typed or written becomes a study's values once, each with
// its position; package study completes and checks them.
//
// A file is parsed into nodes (yaml.go, node.go). The tags of study.Study say which keys
// it may have (table.go, kinds.go, keys.go): by them the nodes become a draft, every level
// read, nothing checked against another. Arguments are nodes too (arguments.go), which are
// read over the file's (override.go). A complete draft is a study (complete.go). By the
// same tags a study is written (print.go), and its keys are completed and explained.
package source

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// draft is a study as it was written: every level is read, nothing is checked
// against another.
type draft struct {
	study.Study
	tree    *node // what was written, for the positions
	changed bool  // by arguments
}

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
	d := draft{Study: study.Study{Seed: defaultSeed}}
	tree, err := readYAML(name, data, names(studyKeys()))
	if err == nil {
		d.tree, err = withSweepsApart(tree)
	}
	if err != nil {
		return draft{}, err
	}
	return d, readBlock("study", d.tree, reflect.ValueOf(&d.Study).Elem(), &d.Study)
}

// YAML writes a study as a file that ParseFile reads back to the same plan:
// what was run, after every override. Levels that the study left to their
// defaults stay unwritten.
func YAML(s *study.Study) ([]byte, error) {
	own := *s
	if !own.Varies(own.Compare.Factor) {
		own.Compare.Factor = ""
	}
	if !own.Fixed {
		own.Blocks = 0
	}
	var b bytes.Buffer
	writeBlock(reflect.ValueOf(&own).Elem()).print(&b, "")
	if b.Len() > MaxFile {
		return nil, fmt.Errorf("write study %s: %d bytes; a study file has at most %d", s.Name, b.Len(), MaxFile)
	}
	return b.Bytes(), nil
}

// complete makes a study of a draft, which stays as it is.
func (d *draft) complete() (*study.Study, error) {
	s := d.Study
	s.At, s.Compare = d.tree.at, record.Compare{}
	for _, step := range []func(*study.Study) error{
		d.setBlocks, (*study.Study).Complete, d.setCompare, (*study.Study).CheckSweptBaseline, d.setLooks, d.checkRace,
		d.checkLabels, d.setNamed, d.setResults, d.setRequires, (*study.Study).CheckSize,
	} {
		if err := step(&s); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// at is what the file or the command line says of a key.
func (d *draft) at(keys ...string) *node { return d.tree.value(keys...) }

// replaced tells whether a file's value may be wrong because arguments changed the study.
func (d *draft) replaced(n *node) bool { return d.changed && n.at.file != nil }

// setBlocks gives a study the most blocks that it may take, as far as that is known before
// what it compares.
func (d *draft) setBlocks(s *study.Study) error {
	here := d.at("capacity").at
	switch {
	case s.Capacity != nil && s.Race != nil:
		return here.errorf("capacity: the study has a race too, and each decides what a block runs; expected one of them")
	case s.Capacity != nil && s.Mesh:
		return here.errorf("capacity: the study is a mesh, whose pairs share the fabric; expected one of them")
	}
	switch s.Fixed = d.Blocks > 0; {
	case s.Fixed:
	case s.Capacity != nil:
		s.Blocks = s.SearchBlocks()
	case s.Race != nil:
		s.Blocks = raceBlocks + s.Race.Confirm
	default:
		s.Blocks = 1 // until it is known how many settle what is compared
	}
	return nil
}

// setCompare makes the comparison that was written a complete study's.
func (d *draft) setCompare(s *study.Study) error {
	compare := d.at("compare")
	if factor := d.Compare.Factor; compare.entryOf("factor") != nil {
		if !s.Varies(factor) {
			names := each.Of(s.Vary, func(v study.Varied) string { return v.Factor })
			return compare.value("factor").at.errorf("compare: %q does not vary; %s", quantity.Clip(factor, 80), quantity.Hint(factor, names))
		}
		s.Compare.Factor = factor
		if err := s.CheckCompared(); err != nil {
			return err
		}
	}
	if err := d.setBaseline(s, compare.entryOf("baseline")); err != nil {
		return err
	}
	if compare.entryOf("primary") != nil {
		open := s.Scope().Open()
		for i, item := range listed(compare.value("primary")) {
			// The file named it, and an argument took the rate away: it is replaced.
			if name := d.Compare.Primary[i]; strings.HasPrefix(name, study.ResponsePrefix) && !open && !d.replaced(item) {
				return item.at.errorf("primary: %s", study.OpenLoopOnly(name))
			}
		}
		s.KeepPrimary(d.Compare.Primary)
	}
	if compare.entryOf("margin") != nil {
		s.Compare.Margin = d.Compare.Margin
	}
	return d.setAlso(s, compare)
}

func (d *draft) setBaseline(s *study.Study, written *entry) error {
	v := s.Compared()
	s.Compare.Baseline = v.Levels[0].Text
	if written == nil {
		return nil
	}
	text := d.Compare.Baseline
	if f, err := study.FactorNamed(v.Factor); err == nil && f.Kind != study.Bundle {
		if l, err := f.Level(text); err == nil {
			text = l.Text
		}
	}
	arms := s.Scope().Arms()
	if kept := study.FindVaried(s.Vary, study.ArmFactor); kept != nil && len(kept.Levels) == 1 && v.Factor != study.ArmFactor && d.changed {
		return nil // the file's baseline is an arm, and another factor is compared
	}
	if !slices.Contains(arms, text) {
		return written.value.at.errorf("baseline: %s has no level %q; %s", v.Factor, quantity.Clip(text, 80), quantity.Hint(text, arms))
	}
	s.Compare.Baseline = text
	return nil
}

// setAlso takes over the further pairs. Arguments that leave no arm of a file's pair, or
// make one the baseline, take the pair away.
func (d *draft) setAlso(s *study.Study, compare *node) error {
	scope := s.Scope()
	for i, pair := range d.Compare.Also {
		item := listed(compare.value("also"))[i]
		based := pair.Arm == s.Compare.Baseline || pair.Base == s.Compare.Baseline
		wrong := ""
		switch {
		case scope.Arm(pair.Arm)+scope.Arm(pair.Base) != "":
			wrong = cmp.Or(scope.Arm(pair.Arm), scope.Arm(pair.Base))
		case based:
			wrong = fmt.Sprintf("every arm is compared with the baseline %s anyway; expected two other arms", s.Compare.Baseline)
		case pair.Arm == pair.Base:
			return item.at.errorf("also: %s is compared with itself; expected two arms", pair.Arm)
		case slices.Contains(s.Compare.Also, record.Pair{Arm: pair.Base, Base: pair.Arm}):
			return item.at.errorf("also: %s and %s are compared twice", pair.Arm, pair.Base)
		}
		switch {
		case wrong == "":
			s.Compare.Also = append(s.Compare.Also, pair)
		case !d.replaced(item):
			return item.at.errorf("also: %s", wrong)
		}
	}
	return nil
}

// setNamed refuses a metric to recommend by that is not judged, and references that the
// study does not have, or that are all of its arms. Arguments may have taken them away.
func (d *draft) setNamed(s *study.Study) (err error) {
	arms := s.Scope().Arms()
	if s.Recommend, err = d.among("recommend", d.Recommend, s.Compare.Primary, "%s is no primary metric, so that it is not judged"); err != nil {
		return err
	}
	if s.Reference, err = d.among("reference", d.Reference, arms, "the study has no arm %s"); err != nil {
		return err
	}
	if len(s.Reference) > 0 && len(s.Reference) == len(arms) {
		return d.at("reference").at.errorf("reference: every arm is one, so that there is nothing to use; expected fewer")
	}
	return nil
}

// among returns the names of a key that the complete study has.
func (d *draft) among(key string, named, has []string, missing string) (kept []string, err error) {
	for _, name := range named {
		switch {
		case slices.Contains(has, name):
			kept = append(kept, name)
		case !d.replaced(d.at(key)):
			return nil, d.at(key).at.errorf(key+": "+missing+"; %s", name, quantity.Hint(name, has))
		}
	}
	return kept, nil
}

// setLooks refuses the precision of a study that compares arms, which ends when its
// comparisons are settled or its time is over, and a time without a precision of any other,
// and decides after which blocks the study is judged.
func (d *draft) setLooks(s *study.Study) error {
	here := d.at("settle").at
	switch arms := len(s.Scope().Arms()); {
	case s.Settle == 0 && s.SettleS == 0:
	case s.Steered() || s.Mesh:
		return here.errorf("settle: a mesh, a race and a search for a capacity end by themselves; leave it out")
	case arms > 1 && s.Settle > 0:
		return here.errorf("settle: the study compares %d arms, and ends when the primary comparisons are settled; expected one arm, or a time alone such as 30s", arms)
	case arms <= 1 && s.Settle == 0 && s.SettleS > 0:
		return here.errorf("settle: found a time alone, which is for a study of several arms; expected a share before it, such as 5%%/%gs", s.SettleS)
	}
	s.EndsAt()
	return nil
}

// checkRace refuses a race that cannot be run.
func (d *draft) checkRace(s *study.Study) error {
	if s.Race == nil {
		return nil
	}
	race := d.at("race")
	if err := race.problem(s.Scope().Race(*s.Race, s.Blocks)); err != nil {
		return err
	}
	if s.Mesh {
		return race.at.errorf("race: the study is a mesh, whose pairs share the fabric; expected one of them")
	}
	return nil
}

// checkLabels refuses the label of a level that a file's study has not, and leaves it out
// where arguments took the level away.
func (d *draft) checkLabels(s *study.Study) error {
	scope, kept := s.Scope(), map[string]map[string]string{}
	for factor, levels := range d.Labels {
		for level, label := range levels {
			switch _, text := scope.Where(map[string]string{factor: level}, nil); {
			case text == "" && kept[factor] == nil:
				kept[factor] = map[string]string{level: label}
			case text == "":
				kept[factor][level] = label
			case !d.changed:
				return d.at("labels", factor).at.errorf("labels: %s", text)
			}
		}
	}
	s.Labels = kept
	return nil
}

// setResults takes over what a file wants to see of the results. Each must speak of what
// the study has; of a changed study stays what still does.
func (d *draft) setResults(s *study.Study) (err error) {
	scope := s.Scope()
	if s.Charts, err = fitting(d, "charts", s.Charts, scope); err != nil {
		return err
	}
	if d.changed {
		s.Costs = scope.KeptLevels(s.Costs)
	}
	if s.Costs, err = fitting(d, "costs", s.Costs, scope); err != nil {
		return err
	}
	if s.Ladders, err = fitting(d, "ladder", s.Ladders, scope); err != nil {
		return err
	}
	s.SetLadders(s.Ladders)
	s.Expect, err = fitting(d, "expect", s.Expect, scope)
	return err
}

// fitting returns those of a list that the study can have.
func fitting[V any](d *draft, key string, all []V, scope study.Scope) (kept []V, err error) {
	_, items := apart(d.at(key))
	for i := range all {
		name, text := problem(scope, &all[i])
		if text == "" {
			kept = append(kept, all[i])
		} else if !d.changed {
			return nil, items.items[i].problem(name, text)
		}
	}
	return kept, nil
}

// setRequires gives a complete study its requirements, less those of a file that arguments
// left without their arm, metric or level, which are warned of: a gate must not pass because
// nobody asked.
func (d *draft) setRequires(s *study.Study) error {
	scope := s.Scope()
	s.Requires = nil
	lines, _ := apart(d.at("expect"))
	for i, r := range d.Requires {
		c, err := parsed(r.Text)
		if err != nil {
			return lines.items[i].at.errorf("expect: %s", err)
		}
		switch text := scope.Condition(c); {
		case text == "":
			s.Requires = append(s.Requires, r)
		case d.replaced(lines.items[i]):
			s.Drop(r)
		default:
			return lines.items[i].at.errorf("expect: %s", text)
		}
	}
	return nil
}
