package source

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"netdyno/internal/quantity"
	"netdyno/internal/run/study"
)

// aLabel is what something is called in plain words.
var aLabel = single("a label", func(text string) (string, error) {
	text = strings.Join(strings.Fields(text), " ")
	switch n := utf8.RuneCountInString(text); {
	case n == 0 || n > study.MaxLabel:
		return "", fmt.Errorf("the label has %d characters; expected 1 to %d", n, study.MaxLabel)
	case !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "", fmt.Errorf("the label %q has characters that cannot be shown; expected plain text", quantity.Clip(text, 80))
	}
	return text, nil
}, asIs)

// labelKey is that of a block whose own name is none for a reader.
func labelKey[T any](where func(*T) *string, doc string) key[T] {
	return keyOf("label", aLabel, where, doc)
}

// labelsKey has labels of levels. Those of arms stand with the arms.
var labelsKey = key[study.Study]{
	about: about{name: "labels", form: "a mapping from factors to levels and what they are called", doc: "what levels are called in sentences and charts; an arm or a sweep has its own label"},
	read: func(e entry, s *study.Study, _ whole) error {
		s.Labels = map[string]map[string]string{}
		return e.each(length{1, maxLevels}, "a mapping from factors to levels and their labels", func(of entry) error {
			f, err := factorAt(of)
			if err != nil {
				return err
			}
			if f.Kind == study.Bundle {
				return of.at.errorf("labels: an arm has its label among its levels, as in {label: %q, server: go-epoll}", "raw epoll")
			}
			s.Labels[f.Name] = map[string]string{}
			return of.each(length{1, maxLevels}, "a mapping from levels to labels", func(one entry) error {
				level, err := f.Level(one.key)
				if err != nil {
					return one.at.errorf("labels: %s", err)
				}
				s.Labels[f.Name][level.Text], err = aLabel.read(one)
				return err
			})
		})
	},
	write: func(s *study.Study) *node {
		return mapNode(s.Labels, func(levels map[string]string) *node {
			n := mapNode(levels, textNode)
			for i := range n.entries {
				n.entries[i].key = quote(n.entries[i].key)
			}
			return n
		})
	},
}

// checkLabels refuses the label of a level that a file's study has not, and leaves it out
// where arguments took the level away.
func (d *draft) checkLabels(s *study.Study) error {
	scope, kept := s.Scope(), map[string]map[string]string{}
	for factor, levels := range d.Labels {
		kept[factor] = map[string]string{}
		for level, label := range levels {
			switch _, text := scope.Where(map[string]string{factor: level}, nil); {
			case text == "":
				kept[factor][level] = label
			case !d.changed:
				return d.tree.value("labels", factor).at.errorf("labels: %s", text)
			}
		}
		if len(kept[factor]) == 0 {
			delete(kept, factor)
		}
	}
	s.Labels = kept
	return nil
}
