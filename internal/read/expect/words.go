package expect

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"netdyno/internal/condition"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
)

func (g *gathering) arm(name string) string { return g.s.Names.Within(name) }

func (g *gathering) arms(names []string) string {
	said := make([]string, len(names))
	for i, name := range names {
		said[i] = g.arm(name)
	}
	return strings.Join(said, ", ")
}

func (g *gathering) named(k cells.Key) string { return g.s.Names.WithinAt(k.Arm, k.Cell) }

// deciding returns what the state rests on: of the evidence with that state the one whose
// interval lies nearest to a bound, of a best(…) that holds the one that lies furthest. Nil
// where there is none.
func (r *Result) deciding() *Evidence {
	var found *Evidence
	least := math.Inf(1)
	for i := range r.Evidence {
		e := &r.Evidence[i]
		c := r.parts[e.Part]
		distance := e.slack(c)
		if c.Of.Best || c.Form == condition.Least {
			distance = -distance
		}
		if e.State == r.State && (found == nil || distance < least) {
			found, least = e, distance
		}
	}
	if found == nil && len(r.Evidence) > 0 { // of a best(…) that is not decided
		found = &r.Evidence[0]
	}
	return found
}

// slack is how far the interval stays from the nearer bound, below 0 beyond it.
func (e *Evidence) slack(c condition.Condition) float64 {
	from, to := e.bounds(c)
	if e.plain() {
		return min(e.Low-from, to-e.High)
	}
	return min(math.Log(e.Low)-from, to-math.Log(e.High))
}

// figure is the number that decides, in words; of a search what each arm needs.
func (r *Result) figure() string {
	e := r.deciding()
	if e == nil || e.Blocks == 0 {
		return ""
	}
	if c := r.parts[e.Part]; c.Form == condition.Least {
		var all []string
		for _, e := range r.Evidence {
			if e.State != DoesNotHold {
				all = append(all, e.What+part.Bracketed(r.text(e, e.Value)))
			}
		}
		return strings.Join(all, "; ")
	}
	text := e.What + " " + r.measured(*e)
	if e.Reason != "" {
		text += "; " + e.Reason
	}
	return text
}

// measured is an evidence's number with its interval: "0.58× (0.55–0.61)".
func (r *Result) measured(e Evidence) string {
	switch {
	case e.Blocks == 0:
		return part.None
	case !e.Known():
		return cells.Unknown + " (" + cells.WhyUnknown(e.Blocks, e.Of) + ")"
	case e.Form == Ratio:
		return part.TimesIn(e.Value, e.Low, e.High)
	}
	return r.text(e, e.Value) + part.Bracketed(r.text(e, e.Low)+"–"+r.text(e, e.High))
}

// text prints a number of an evidence in its form.
func (r *Result) text(e Evidence, x float64) string {
	switch e.Form {
	case Figure:
		return part.WithUnit(x, part.ScaleFor(strings.Replace(r.parts[e.Part].Metric, condition.BothEnds, "server.", 1), x))
	case Share:
		return quantity.FormatShare(x)
	case Points:
		return quantity.FormatFigure(100*x) + " percentage points"
	case Coefficient:
		return quantity.FormatFigure(x)
	}
	return quantity.FormatFigure(x) + "×"
}

// tested says under what a statement was tested: where, over which link, what limited its
// arms, and the levels that it is about and no cell's name has. Nil where nothing was
// measured for it.
func (r *Result) tested(s *cells.Dataset) []string {
	if !slices.ContainsFunc(r.Evidence, func(e Evidence) bool { return e.Blocks > 0 }) {
		return nil
	}
	var limits []string
	for _, e := range r.Evidence {
		for _, k := range e.at {
			limit, _ := cells.LimitOf(s.Of(k.Cell, k.Arm))
			if name := limit.Called(); limit != trial.Unknown && name != "" && !slices.Contains(limits, name) {
				limits = append(limits, name)
			}
		}
	}
	under := []string{cells.Place(s.Plan, s.Facts)}
	if len(limits) > 0 {
		under = append(under, "limit: "+strings.Join(limits, ", "))
	}
	for _, factor := range slices.Sorted(maps.Keys(r.Spec.Under)) {
		if level, held := s.Hold[factor]; held {
			under = append(under, s.Names.Level(factor, level))
		}
	}
	return under
}

// ground says on what the state rests: the number that decides and where it was tested, or
// why it was not and where it can be.
func (r *Result) ground() string {
	switch {
	case r.State == NotTestable && r.Elsewhere == "":
		return strings.TrimSuffix(r.Reason, ".") + "."
	case r.State == NotTestable:
		elsewhere := part.Dotted(r.Elsewhere)
		if !strings.HasPrefix(elsewhere, "netdyno ") { // what is typed stays as it is
			elsewhere = part.Capital(elsewhere)
		}
		return strings.TrimSuffix(r.Reason, ".") + ". " + elsewhere
	case r.Figure == "":
		return "Its arms have no figures in a common cell."
	}
	text := strings.TrimSuffix(r.Figure, ".") + "."
	if e := r.deciding(); r.parts[e.Part].Form != condition.Least {
		text += fmt.Sprintf(" %s interval, %s.", compare.Confidence(e.Interval), quantity.Plural(e.Blocks, strings.TrimSuffix(e.replicates(), "s")))
	}
	return text + " Tested: " + strings.Join(r.Under, "; ") + "."
}
