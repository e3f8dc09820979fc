// Package source reads a study from a file or from a command line, and writes it
// as a file. What was typed or written becomes a study's values once, each with
// its position; package study completes and checks them.
//
// A file is parsed into nodes (yaml.go, node.go). Tables of keys (key.go, kinds.go,
// keys.go, keys_results.go) make them a draft: every level read, nothing checked
// against another. Arguments are nodes too (arguments.go), which are read over the
// file's (override.go). A complete draft is a study (complete.go); what its file
// wants to see of the results is read last. The same tables write a study (print.go).
package source

import (
	"bytes"
	"fmt"
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
	tree    *node // what was written, for the positions and for what is read last
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
	tree, err := readYAML(name, data, studyBlock.names())
	if err != nil {
		return draft{}, err
	}
	d := draft{Study: studyBlock.start, tree: tree}
	return d, studyBlock.readBlock(tree, &d.Study, whole{Study: &d.Study})
}

// YAML writes a study as a file that ParseFile reads back to the same plan:
// what was run, after every override. Levels that the study left to their
// defaults stay unwritten.
func YAML(s *study.Study) ([]byte, error) {
	var b bytes.Buffer
	studyBlock.writeBlock(s).print(&b, "")
	if b.Len() > MaxFile {
		return nil, fmt.Errorf("write study %s: %d bytes; a study file has at most %d", s.Name, b.Len(), MaxFile)
	}
	return b.Bytes(), nil
}

// complete makes a study of a draft, which stays as it is.
func (d *draft) complete() (*study.Study, error) {
	s := d.Study
	s.At, s.Compare, s.Requires = d.tree.at, record.Compare{}, nil
	s.Hold, s.Vary, s.Arms, s.Sweeps = slices.Clone(s.Hold), slices.Clone(s.Vary), slices.Clone(s.Arms), slices.Clone(s.Sweeps)
	for i := range s.Arms {
		s.Arms[i].Settings = slices.Clip(s.Arms[i].Settings) // an implied codec is the study's, not the draft's
	}
	for i := range s.Sweeps {
		s.Sweeps[i].Hold = slices.Clip(s.Sweeps[i].Hold)
	}
	for _, step := range []func(*study.Study) error{
		d.setBlocks, (*study.Study).Complete, d.setCompare, (*study.Study).CheckSweptBaseline, d.setLooks, d.checkRace,
		d.checkLabels, d.checkRecommend, d.checkReference, d.readResults,
		d.setRequires, (*study.Study).CheckSize,
	} {
		if err := step(&s); err != nil {
			return nil, err
		}
	}
	return &s, nil
}

// readResults reads what a file says of the results of a complete study.
func (d *draft) readResults(s *study.Study) error {
	scope := s.Scope()
	return studyBlock.readKeys(d.tree, s, whole{s, &scope, d.changed}, true)
}

// setBlocks gives a study the most blocks that it may take, as far as that is known before
// what it compares.
func (d *draft) setBlocks(s *study.Study) error {
	here := d.tree.value("capacity").at
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
	compare := d.tree.value("compare")
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
			replaced := d.changed && item.at.file != nil
			if name := d.Compare.Primary[i]; strings.HasPrefix(name, study.ResponsePrefix) && !open && !replaced {
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
		at := listed(compare.value("also"))[i].at
		based := pair.Arm == s.Compare.Baseline || pair.Base == s.Compare.Baseline
		if d.changed && len(d.Arms) > 0 && (based && compare.entryOf("baseline") != nil || !d.hasArm(pair.Arm) || !d.hasArm(pair.Base)) {
			continue
		}
		for _, arm := range []string{pair.Arm, pair.Base} {
			if text := scope.Arm(arm); text != "" {
				return at.errorf("also: %s", text)
			}
		}
		switch {
		case pair.Arm == pair.Base:
			return at.errorf("also: %s is compared with itself; expected two arms", pair.Arm)
		case based:
			return at.errorf("also: every arm is compared with the baseline %s anyway; expected two other arms", s.Compare.Baseline)
		case slices.ContainsFunc(s.Compare.Also, func(o record.Pair) bool { return o == pair || o == record.Pair{Arm: pair.Base, Base: pair.Arm} }):
			return at.errorf("also: %s and %s are compared twice", pair.Arm, pair.Base)
		}
		s.Compare.Also = append(s.Compare.Also, pair)
	}
	return nil
}

func (d *draft) hasArm(name string) bool {
	return slices.ContainsFunc(d.Arms, func(a study.Arm) bool { return a.Name == name })
}

// checkRecommend refuses a metric that is not judged. Arguments may have taken it away.
func (d *draft) checkRecommend(s *study.Study) error {
	s.Recommend = nil
	for _, name := range d.Recommend {
		switch {
		case slices.Contains(s.Compare.Primary, name):
			s.Recommend = append(s.Recommend, name)
		case !d.changed || d.tree.value("recommend").at.file == nil:
			return d.tree.value("recommend").at.errorf("recommend: %s is no primary metric, so that it is not judged; %s", name, quantity.Hint(name, s.Compare.Primary))
		}
	}
	return nil
}

// checkReference refuses arms that the study does not have, and a study of references alone.
// Arguments may have taken arms away.
func (d *draft) checkReference(s *study.Study) error {
	arms := s.Scope().Arms()
	s.Reference = nil
	for _, name := range d.Reference {
		switch {
		case slices.Contains(s.Reference, name):
			return d.tree.value("reference").at.errorf("reference: %s is listed twice", name)
		case slices.Contains(arms, name):
			s.Reference = append(s.Reference, name)
		case !d.changed || d.tree.value("reference").at.file == nil:
			return d.tree.value("reference").at.errorf("reference: the study has no arm %s; %s", name, quantity.Hint(name, arms))
		}
	}
	if len(s.Reference) > 0 && len(s.Reference) == len(arms) {
		return d.tree.value("reference").at.errorf("reference: every arm is one, so that there is nothing to use; expected fewer")
	}
	return nil
}

// setLooks refuses the precision of a study that compares arms, which ends when its
// comparisons are settled or its time is over, and a time without a precision of any other,
// and decides after which blocks the study is judged.
func (d *draft) setLooks(s *study.Study) error {
	switch arms := len(s.Scope().Arms()); {
	case s.Settle == 0 && s.SettleS == 0:
	case s.Steered() || s.Mesh:
		return d.tree.value("settle").at.errorf("settle: a mesh, a race and a search for a capacity end by themselves; leave it out")
	case arms > 1 && s.Settle > 0:
		return d.tree.value("settle").at.errorf("settle: the study compares %d arms, and ends when the primary comparisons are settled; expected one arm, or a time alone such as 30s", arms)
	case arms <= 1 && s.Settle == 0 && s.SettleS > 0:
		return d.tree.value("settle").at.errorf("settle: found a time alone, which is for a study of several arms; expected a share before it, such as 5%%/%gs", s.SettleS)
	}
	s.EndsAt()
	return nil
}

// checkRace refuses a race that cannot be run.
func (d *draft) checkRace(s *study.Study) error {
	if s.Race == nil {
		return nil
	}
	race := d.tree.value("race")
	if err := race.problem(s.Scope().Race(*s.Race, s.Blocks)); err != nil {
		return err
	}
	if s.Mesh {
		return race.at.errorf("race: the study is a mesh, whose pairs share the fabric; expected one of them")
	}
	return nil
}

// setRequires gives a complete study its requirements, less those of a file that arguments
// left without their arm, metric or level, which are warned of: a gate must not pass because
// nobody asked.
func (d *draft) setRequires(s *study.Study) error {
	scope := s.Scope()
	lines := slices.DeleteFunc(slices.Clone(listed(d.tree.value("expect"))), func(n *node) bool { return n.kind != scalar })
	for i, r := range d.Requires {
		switch text := scope.Require(r); {
		case text == "":
			s.Requires = append(s.Requires, r)
		case d.changed && lines[i].at.file != nil:
			s.Drop(r)
		default:
			return lines[i].at.errorf("expect: %s", text)
		}
	}
	return nil
}
