// Package suggest says what may come next where a study is typed: what a shell
// offers at the Tab key. It reads nothing but through what its caller lends it.
package suggest

import (
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// Word is a way to complete what was begun.
type Word struct {
	Text string // whole, with what was typed of it
	Doc  string // one line; "" for none
	Open bool   // more of the same argument follows, so that no space ends it
}

// Line is a command line up to the word at which Tab was pressed.
type Line struct {
	Typed       []string                            // the arguments before the word
	Keys        bool                                // only keys may come: a URL stands for the study
	Read        func(file string) ([]byte, error)   // reads a study file; nil where none is read
	Transports  func() []contract.Transport         // what the workers here offer; asked when it is needed
	Directories func(begun string) (paths []string) // those whose path begins so; asked when needed
}

// Next returns what the word may become, in the order in which to show it; none
// where anything may follow, such as a file.
func (l Line) Next(word string) []Word {
	key, value, isLevel := strings.Cut(word, "=")
	var all []Word
	switch {
	case isLevel:
		all = l.levels(key, value)
	case strings.HasPrefix(word, study.OptionPrefix):
		all = l.options(word)
	case len(l.Typed) == 0 && !l.Keys:
		all = append(studies(), l.keys()...)
	default:
		all = l.keys()
	}
	return slices.DeleteFunc(all, func(w Word) bool { return !strings.HasPrefix(w.Text, word) })
}

// studies are the built-in ones.
func studies() []Word {
	var all []Word
	for _, name := range source.List() {
		if s, err := source.Named(name); err == nil { // each is held by a test
			all = append(all, Word{Text: name, Doc: s.Question})
		}
	}
	return all
}

// Studies returns the names of the built-in studies, with their questions.
func Studies() []Word { return studies() }

// keys are the factors and settings that were not typed yet.
func (l Line) keys() []Word {
	typed := map[string]bool{}
	for _, arg := range l.Typed {
		key, _, isKey := strings.Cut(arg, "=")
		if f, err := study.FactorNamed(key); err == nil {
			key = f.Name
		}
		typed[key] = isKey
	}
	var all []Word
	for _, f := range study.Factors() {
		if !typed[f.Name] && !strings.HasPrefix(f.Name, study.OptionPrefix) {
			all = append(all, Word{f.Name + "=", f.Doc, true})
			typed[f.Name] = true // some are settings too
		}
	}
	for _, s := range source.Settings() {
		if !typed[s.Name] {
			all = append(all, Word{s.Name + "=", s.Doc, true})
		}
	}
	return append(all, Word{study.OptionPrefix, "an option of a transport", true})
}

// Transports returns the names of those transports that have a role; "" for any.
func Transports(all []contract.Transport, role contract.Role) []Word {
	var words []Word
	for _, t := range all {
		if role == "" || slices.Contains(t.Roles, role) {
			words = append(words, Word{Text: t.Name, Doc: t.Doc})
		}
	}
	return words
}
