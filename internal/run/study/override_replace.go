package study

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// replaces are factors that end a trial, or pace it, in another way than the
// factor beside them: who types one takes the file's other away.
var replaces = map[string]string{"amount": "window", "window": "amount"}

// replaceEnds removes from a file's study what a typed factor stands in place
// of. Arms keep theirs: a factor that an arm sets cannot be overridden.
func (n *node) replaceEnds(typed *node) {
	for _, section := range []string{"hold", "vary"} {
		e := typed.get(section)
		if e == nil {
			continue
		}
		for _, x := range e.value.entries {
			if other, ends := replaces[x.key]; ends && allPositive(x) && !typed.sets(other) {
				n.forget(other)
			}
		}
	}
}

// allPositive tells whether every level of an entry is above 0. One that cannot
// be read is left for build to refuse.
func allPositive(e entry) bool {
	f, err := factorNamed(e.key)
	if err != nil {
		return false
	}
	for _, item := range listed(e.value) {
		if l, err := f.level(item.text); err != nil || !positive(l) {
			return false
		}
	}
	return true
}

// sets tells whether a study's own hold or vary has the factor.
func (n *node) sets(factor string) bool {
	return slices.ContainsFunc([]string{"hold", "vary"}, func(section string) bool {
		e := n.get(section)
		return e != nil && e.value.get(factor) != nil
	})
}

// forget removes a factor from what a study and its sweeps hold and vary.
func (n *node) forget(factor string) {
	for _, part := range append([]*node{n}, n.sweeps()...) {
		for _, section := range []string{"hold", "vary"} {
			if e := part.get(section); e != nil {
				e.value.remove(factor)
			}
		}
	}
}

// takePrimary takes a file's primary metrics out when one of them exists in an
// open loop only: whether the changed study has one is known when it is built.
func (n *node) takePrimary(typed *node) []string {
	compare := n.get("compare")
	if compare == nil || compare.value.kind != mapping || compare.value.get("primary") == nil {
		return nil
	}
	if t := typed.get("compare"); t != nil && t.value.get("primary") != nil {
		return nil
	}
	var names []string
	for _, item := range listed(compare.value.get("primary").value) {
		if !slices.Contains(metricNames(), item.text) {
			return nil // build refuses it, with its place
		}
		names = append(names, item.text)
	}
	if !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, responsePrefix) }) {
		return nil
	}
	compare.value.remove("primary")
	return names
}

// keepPrimary takes over the original study's primary metrics. In a closed loop
// a response time does not exist; the service time stands in its place, and is
// warned of.
func (s *Study) keepPrimary(names []string) {
	if len(names) == 0 {
		return
	}
	_, open := s.loops()
	s.Compare.Primary = nil
	for _, name := range names {
		if quantile, is := strings.CutPrefix(name, responsePrefix); is && !open {
			s.replaced = append(s.replaced, name)
			name = servicePrefix + quantile
		}
		if !slices.Contains(s.Compare.Primary, name) {
			s.Compare.Primary = append(s.Compare.Primary, name)
		}
	}
}

// servicePrefix begins the metrics of the time from sending to completion.
const servicePrefix = "service_"

func (s *Study) warnReplaced() []record.Warning {
	var out []record.Warning
	for _, name := range s.replaced {
		service := servicePrefix + strings.TrimPrefix(name, responsePrefix)
		out = append(out, record.Warning{
			About:  "primary",
			Text:   fmt.Sprintf("%s is compared in place of %s: without a rate nothing is due, so there is no response time", service, name),
			Advice: "set a rate to compare response times",
		})
	}
	return out
}
