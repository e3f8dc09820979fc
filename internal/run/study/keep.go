package study

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// KeptLevels leaves out of each model the factors that are no terms any more, as one
// level of them was typed, and the levels that are no longer held out.
func (c Scope) KeptLevels(all []record.Cost) []record.Cost {
	all = slices.Clone(all)
	for i := range all {
		x := &all[i]
		x.Terms = slices.DeleteFunc(slices.Clone(x.Terms), func(factor string) bool { return len(allLevels(c.designs, factor)) == 0 })
		held := map[string][]string{}
		for factor, levels := range x.Holdout {
			for _, level := range levels {
				if hasText(allLevels(c.designs, factor), level) {
					held[factor] = append(held[factor], level)
				}
			}
		}
		x.Holdout = held
	}
	return all
}

// Drop leaves out a requirement that the study as it was changed cannot ask, with a warning.
func (s *Study) Drop(r record.Require) { s.dropped = append(s.dropped, r.Text) }

// servicePrefix begins the metrics of the time from sending to completion.
const servicePrefix = "service_"

// KeepPrimary takes over the primary metrics of the original study. In a closed
// loop a response time does not exist: the service time replaces it, and the
// user is warned.
func (s *Study) KeepPrimary(names []string) {
	open := s.Scope().Open()
	s.Compare.Primary = nil
	for _, name := range names {
		if quantile, is := strings.CutPrefix(name, ResponsePrefix); is && !open {
			s.replaced = append(s.replaced, name)
			name = servicePrefix + quantile
		}
		if !slices.Contains(s.Compare.Primary, name) {
			s.Compare.Primary = append(s.Compare.Primary, name)
		}
	}
}

// warnKept names what a changed study could not take over.
func (s *Study) warnKept() []record.Warning {
	var out []record.Warning
	for _, text := range s.dropped {
		out = append(out, record.Warning{
			About:  "expect",
			Text:   fmt.Sprintf("%s is left out: the study as it was changed has no such arm or level", text),
			Advice: "run the arm and the level too, or type require=… of your own",
		})
	}
	for _, name := range s.replaced {
		service := servicePrefix + strings.TrimPrefix(name, ResponsePrefix)
		out = append(out, record.Warning{
			About:  "primary",
			Text:   fmt.Sprintf("%s is compared in place of %s: without a rate no exchange has a due time, so there is no response time", service, name),
			Advice: "set a rate to compare response times",
		})
	}
	return out
}
