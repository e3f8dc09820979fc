package study

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// KeepViews takes over what the original study says of its results, without the arms and
// levels that s, which was changed on the command line, no longer has. The caller leaves
// out views that are unsound without them.
func (s *Study) KeepViews(original *Study) {
	scope := s.Scope()
	s.keepPublished(original, scope)
	for _, c := range original.Charts {
		if kept := scope.keptArms(c.Arms); len(kept) > 0 || len(c.Arms) == 0 { // none would mean all
			c.Arms = kept
			s.Charts = append(s.Charts, c)
		}
	}
	for _, p := range original.Pays { // what no arm could weigh stays
		p.Arms, p.InsteadOf = scope.keptArms(p.Arms), scope.keptArms(p.InsteadOf)
		s.Pays = append(s.Pays, p)
	}
	if original.Fills != nil {
		link := *original.Fills
		link.TCP = scope.keptArms(link.TCP)
		s.Fills = &link
	}
	for _, c := range original.Claims {
		if s.Compare.Factor == original.Compare.Factor || c.Unmeasured == "" { // what no arm could test is not asked of other arms
			s.Claims = append(s.Claims, c)
		}
	}
	s.Costs = scope.keptLevels(original.Costs)
	s.Fits, s.Reaches, s.Ladders = slices.Clone(original.Fits), slices.Clone(original.Reaches), slices.Clone(original.Ladders)
}

// keptArms leaves out the arms that the study no longer has.
func (c Scope) keptArms(arms []string) []string {
	return slices.DeleteFunc(slices.Clone(arms), func(name string) bool { return !slices.Contains(c.arms, name) })
}

// keptLevels leaves out of each model the factors that are no terms any more, as one
// level of them was typed, and the levels that are no longer held out.
func (c Scope) keptLevels(all []record.Cost) []record.Cost {
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

// keepPublished takes over the published figures whose arms are still in the study. Their
// conditions are taken over unchanged: whether a condition holds is found out when the
// run is read. A warning says so when no figure is left in its publication's shape.
func (s *Study) keepPublished(original *Study, scope Scope) {
	if s.Compare.Factor != original.Compare.Factor {
		return
	}
	var lost []string
	shaped := false
	for _, p := range original.Published {
		if key, _ := scope.Published(p); p.Unmeasured == "" && (key == "arm" || strings.HasPrefix(key, "base")) {
			continue
		}
		if len(p.Shape) > 0 {
			lost, shaped = append(lost, scope.shapeProblem(p)), shaped || scope.shapeProblem(p) == ""
		}
		if key, _ := scope.Published(p); key == "shape" { // the file that is kept of the study must be readable
			p.Shape = nil
		}
		s.Published = append(s.Published, p)
	}
	if len(lost) > 0 && !shaped {
		s.shapeless = lost[0]
	}
}

// shapeProblem says why a changed study cannot tell what of a published ratio is
// start-up; "" when it can.
func (c Scope) shapeProblem(p record.Published) string {
	if _, text := c.Where(p.Shape, []string{p.Arm, p.Base}); text != "" {
		return text
	}
	windowed := func(d *design) bool {
		return slices.ContainsFunc(d.armsOrNone(), func(arm *Arm) bool {
			amounts := d.trialLevels(arm, "amount")
			return len(amounts) == 0 || slices.ContainsFunc(amounts, func(l Level) bool { return !(l.Value > 0) })
		})
	}
	if !slices.ContainsFunc(c.designs, windowed) {
		return "every trial ends after a fixed amount, and none in a window"
	}
	return ""
}

// KeepRequires takes over the original study's requirements whose arms, metrics
// and levels this study still has. A requirement that is left out is warned of: a
// gate must not pass because nobody asked.
func (s *Study) KeepRequires(original *Study) {
	scope := s.Scope()
	for _, r := range original.Requires {
		if scope.Require(r) != "" {
			s.dropped = append(s.dropped, r.Text)
			continue
		}
		s.Requires = append(s.Requires, r)
	}
}

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
			About:  "require",
			Text:   fmt.Sprintf("%s is left out: the study as it was changed has no such arm or level", text),
			Advice: "run the arm and the level too, or type require=… of your own",
		})
	}
	if s.shapeless != "" {
		out = append(out, record.Warning{
			About:  "shape",
			Text:   "what start-up is of the published ratios is not measured: " + s.shapeless,
			Advice: "leave amount and window as the study has them, or change both in a copy of it (netdyno studies NAME prints it)",
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
