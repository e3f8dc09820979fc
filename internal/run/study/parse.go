package study

import (
	"regexp"
	"slices"
	"strings"

	"netdyno/internal/quantity"
)

// ParseFile reads a study file. The name appears in errors, each of which is
// an *Error with file, line and column.
func ParseFile(name string, data []byte) (*Study, error) {
	tree, err := readYAML(name, data)
	if err != nil {
		return nil, err
	}
	return build(tree)
}

// The keys of a study file.
var (
	topKeys       = []string{"study", "question", "hold", "vary", "sweeps", "compare", "blocks", "continue", "probes", "seed", "published", "charts", "fits", "reaches", "claims", "require"}
	compareKeys   = []string{"factor", "baseline", "primary", "margin", "also"}
	publishedKeys = []string{"source", "metric", "arm", "base", "cell", "under", "ratio", "unmeasured", "note"}
)

const (
	maxLevels   = 1000
	maxArms     = 200
	maxQuestion = 1000
)

var properName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._+-]{0,62}$`)

// build gives a tree its meaning.
func build(tree *node) (*Study, error) {
	if err := tree.mappingOf(topKeys); err != nil {
		return nil, err
	}
	s := &Study{top: tree.at}
	for _, step := range []func(*node) error{s.readNames, s.readHold, s.readVary, s.readSweeps, s.readNumbers} {
		if err := step(tree); err != nil {
			return nil, err
		}
	}
	s.implyCodec()
	s.Compare.Factor = s.likelyCompared()
	for _, check := range []func() error{s.checkPlaces, s.checkCompared, s.checkSize, s.checkSense} {
		if err := check(); err != nil {
			return nil, err
		}
	}
	for _, step := range []func(*node) error{s.readCompare, s.readPublished, s.readCharts, s.readFits, s.readReaches, s.readClaims, s.readRequires} {
		if err := step(tree); err != nil {
			return nil, err
		}
	}
	return s, s.checkSize()
}

// mappingOf checks that a node is a mapping with known keys only.
func (n *node) mappingOf(keys []string) error {
	if n.kind != mapping {
		return n.at.errorf("found %s; expected a mapping with the keys %s", n.kind, strings.Join(keys, ", "))
	}
	for _, e := range n.entries {
		if !slices.Contains(keys, e.key) {
			return e.at.errorf("unknown key %q; %s", clip(e.key, 80), quantity.Hint(e.key, keys))
		}
	}
	return nil
}

// scalarOf returns the entry's single value.
func (e *entry) scalarOf(expected string) (string, error) {
	if e.value.kind != scalar {
		return "", e.value.at.errorf("%s: found %s; expected %s", e.key, e.value.kind, expected)
	}
	return e.value.text, nil
}

func (s *Study) readNames(tree *node) error {
	e := tree.get("study")
	if e == nil {
		return tree.at.errorf(`the key "study" is missing; expected the study's name`)
	}
	name, err := e.scalarOf("a name")
	if err != nil {
		return err
	}
	if !properName.MatchString(name) {
		return e.value.at.errorf("study: %q is not a name; expected letters, digits, ., _, + and -", clip(name, 80))
	}
	s.Name = name
	if e = tree.get("question"); e != nil {
		if s.Question, err = e.scalarOf("a sentence"); err != nil {
			return err
		}
		if len(s.Question) > maxQuestion {
			return e.value.at.errorf("question: the text has %d bytes; expected at most %d", len(s.Question), maxQuestion)
		}
		s.Question = strings.Join(strings.Fields(s.Question), " ")
	}
	return nil
}

func (s *Study) readNumbers(tree *node) error {
	if err := s.readBlocks(tree.get("blocks"), tree.get("continue")); err != nil {
		return err
	}
	for _, key := range []string{"probes", "seed"} {
		f, err := factorNamed(key)
		if err != nil {
			return err
		}
		level := f.standard()
		if e := tree.get(key); e != nil {
			text, err := e.scalarOf("one number")
			if err != nil {
				return err
			}
			if level, err = f.level(text); err != nil {
				return e.value.at.errorf("%s", err)
			}
		}
		if key == "probes" {
			s.Probes = int(level.value)
		} else {
			s.Seed = uint64(level.value)
		}
	}
	return nil
}

func (s *Study) readHold(tree *node) error {
	e := tree.get("hold")
	if e == nil {
		return nil
	}
	settings, err := readSettings(e.value, "hold")
	s.Hold = settings
	return err
}
