package study

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// leastRungs is from how many arms on a ladder takes anything apart: two have one
// step, which is the whole.
const leastRungs = 3

// Ladder checks a ladder: see Scope.
func (c Scope) Ladder(l record.Ladder) (key, text string) {
	if len(l.Arms) < leastRungs {
		return "arms", fmt.Sprintf("found %d; expected %d arms or more, each of which differs from the one before in one thing", len(l.Arms), leastRungs)
	}
	for i, arm := range l.Arms {
		if text := c.Rung(l.Arms[:i], arm); text != "" {
			return "arms", text
		}
	}
	return "", ""
}

// Rung says why an arm cannot follow others in a ladder; "" when it can.
func (c Scope) Rung(before []string, arm string) string {
	if slices.Contains(before, arm) {
		return arm + " is named twice"
	}
	return c.Arm(arm)
}

// SetLadders gives the study ladders that its scope has checked.
func (s *Study) SetLadders(ladders []record.Ladder) { s.Ladders = s.withChanges(ladders) }

// withChanges says of every step in what its two arms differ.
func (s *Study) withChanges(ladders []record.Ladder) []record.Ladder {
	out := slices.Clone(ladders)
	for i, l := range out {
		out[i].Steps = slices.Clone(l.Steps)
		for k := range l.Steps {
			out[i].Steps[k].Changes = s.changes(l.Arms[k], l.Arms[k+1])
		}
	}
	return out
}

// changes lists the factors in which two levels of the compared factor differ:
// itself, or what two arms bundle.
func (s *Study) changes(from, to string) []string {
	a, b := s.armNamed(from), s.armNamed(to)
	if s.Compare.Factor != ArmFactor || a == nil || b == nil {
		return []string{s.Compare.Factor}
	}
	return differing(a.treatment(), b.treatment())
}

func (s *Study) armNamed(name string) *Arm {
	i := slices.IndexFunc(s.Arms, func(a Arm) bool { return a.Name == name })
	if i < 0 {
		return nil
	}
	return &s.Arms[i]
}

// warnLadders names steps that change several things at once: their share of the
// whole cannot be divided among these.
func (s *Study) warnLadders() []record.Warning {
	var out []record.Warning
	for _, l := range s.Ladders {
		for k, step := range l.Steps {
			if len(step.Changes) < 2 {
				continue
			}
			out = append(out, record.Warning{
				About:  "ladder",
				Text:   fmt.Sprintf("the step from %s to %s differs in %s, so its share is that of all of them together", l.Arms[k], l.Arms[k+1], listed(step.Changes)),
				Advice: "put an arm between them that changes one of these",
			})
		}
	}
	return out
}

// listed joins names as a sentence does.
func listed(names []string) string {
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " and " + names[last]
}
