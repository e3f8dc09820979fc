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

// Transports returns the names of those transports that have a role; "" for any of an end.
func Transports(all []contract.Transport, role contract.Role) []Word {
	var words []Word
	for _, t := range all {
		if role == "" && !slices.Contains(t.Roles, contract.Hop) || slices.Contains(t.Roles, role) {
			words = append(words, Word{Text: t.Name, Doc: t.Doc})
		}
	}
	return words
}

// options are the names of options that the study's transports declare, each at
// the end that the word names.
func (l Line) options(word string) []Word {
	prefix, role := study.OptionPrefix, contract.Role("")
	for _, r := range []contract.Role{contract.Server, contract.Client} {
		if own := study.OptionPrefix + string(r) + "."; strings.HasPrefix(word, own) {
			prefix, role = own, r
		}
	}
	var all []Word
	for _, o := range l.declared(role) {
		text := prefix + o.Name + "="
		if !slices.ContainsFunc(all, func(w Word) bool { return w.Text == text }) {
			all = append(all, Word{text, o.Doc, true})
		}
	}
	slices.SortStableFunc(all, func(a, b Word) int { return strings.Compare(a.Text, b.Text) })
	if role == "" {
		all = append(all, Word{"opt.server.", "an option at the server alone", true}, Word{"opt.client.", "an option at the client alone", true})
	}
	return all
}

// levelsOfOption are the choices of an option.
func (l Line) levelsOfOption(name string) []Word {
	name = strings.TrimPrefix(name, study.OptionPrefix)
	role := contract.Role("")
	for _, r := range []contract.Role{contract.Server, contract.Client} {
		if own, is := strings.CutPrefix(name, string(r)+"."); is {
			name, role = own, r
		}
	}
	var all []Word
	for _, o := range l.declared(role) {
		choices := o.Choices
		if o.Type == contract.TypeBool {
			choices = []string{"yes", "no"}
		}
		for _, w := range plain(choices...) {
			if o.Name == name && !slices.Contains(all, w) {
				all = append(all, w)
			}
		}
	}
	return all
}

// declared are the options of the transports that are typed, or that the study
// has; of all where there are none.
func (l Line) declared(role contract.Role) []contract.Option {
	named := l.named()
	var all []contract.Option
	for _, t := range l.Transports() {
		if len(named) > 0 && !named[t.Name] {
			continue
		}
		for _, o := range t.Options {
			if role == "" || len(o.Roles) == 0 || slices.Contains(o.Roles, role) {
				all = append(all, o)
			}
		}
	}
	return all
}

// named are the transports of the study, as far as it is typed.
func (l Line) named() map[string]bool {
	names := map[string]bool{}
	s, err := source.ParseArgs(l.Typed, l.Read)
	if err != nil {
		return nil // it is no study yet: every transport may come
	}
	for factor, level := range s.Levels() {
		if f, err := study.FactorNamed(factor); err == nil && f.Kind == study.Transport {
			names[level.Text] = true
		}
	}
	return names
}
