package suggest

import (
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

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
