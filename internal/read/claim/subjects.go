package claim

import (
	"fmt"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/fit"
	"netdyno/internal/read/part"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Form is what the number of an evidence is.
type Form string

// The forms of an evidence.
const (
	Ratio       Form = ""            // arm ÷ base, or a quotient of such
	Figure      Form = "figure"      // of an arm, in the metric's unit
	Share       Form = "share"       // of a CPU profile, 0 to 1
	Points      Form = "difference"  // of two shares of profiles
	Coefficient Form = "coefficient" // of a fit
)

// leastProbes is the number of profiled trials from which a share has an interval, by
// Student's t: the sign flip that blocks must allow has no place where a study has three.
const leastProbes = 3

// plain tells whether an evidence's effects are the numbers themselves, not logarithms.
func (e *Evidence) plain() bool { return e.Form == Share || e.Form == Points || e.Form == Coefficient }

// aside tells whether a part is about something else than a metric's ratio within a cell.
func aside(p record.ClaimPart) bool {
	return p.Metric == "" || p.Base == "" || p.Base == record.TheLink || len(p.BaseWhere) > 0
}

// subjectOf gathers the evidence of a part that is about something else than a metric's
// ratio within a cell.
func subjectOf(s *cells.Dataset, under map[string]string, i int, p record.ClaimPart, fits fit.Fits) ([]Evidence, []cells.Unmet) {
	if p.Fit != "" {
		return coefficientOf(s, i, p, fits), nil
	}
	arms := slices.Clone(p.Arms)
	if p.Base != "" && p.Base != record.TheLink && len(p.BaseWhere) == 0 {
		arms = append(arms, p.Base)
	}
	columns, unmet := meeting(s, under, p.Where, arms)
	var all []Evidence
	for _, cell := range columns {
		for _, arm := range p.Arms {
			switch {
			case p.Profile != "":
				all = append(all, sharesOf(s, i, p, cell, arm))
			case p.Base == record.TheLink:
				all = append(all, ofTheLink(s, i, cell, arm))
			case len(p.BaseWhere) > 0:
				elsewhere, unmetThere := meeting(s, under, p.BaseWhere, []string{p.Base})
				unmet = append(unmet, unmetThere...)
				for _, other := range elsewhere {
					all = append(all, acrossCells(s, i, p, cells.KeyOf(cell, arm), cells.KeyOf(other, p.Base)))
				}
			default:
				all = append(all, figureOf(s, i, p, cell, arm))
			}
		}
	}
	return all, unmet
}

// figureOf is an arm's own figure in a cell.
func figureOf(s *cells.Dataset, i int, p record.ClaimPart, cell, arm string) Evidence {
	e := Evidence{Part: i, Form: Figure, cells: []string{cell}, Of: s.BlocksOf(cell, arm)}
	e.compares(s.Header.Study, func(say words) string { return say.arm(arm) + say.at(cell) })
	e.effects = cells.PoolOf(s.TrialsOf(cell, arm), p.Metric).Logs()
	e.besideOthers(s, p.Metric, cells.KeyOf(cell, arm), cells.KeyOf(cell, arm), stat.Estimate{Low: 1, High: 1})
	e.cannotRun(s, cell, arm)
	return e
}

// besideOthers refuses what other processes on the CPUs may have turned round.
func (e *Evidence) besideOthers(s *cells.Dataset, name string, of, base cells.Key, ratio stat.Estimate) {
	beside := func(k cells.Key) compare.Beside {
		limit, _ := cells.LimitOf(s.Of(k.Cell, k.Arm))
		return compare.BesideOf(k.Arm, s.TrialsOf(k.Cell, k.Arm), limit)
	}
	c := compare.Comparison{Metric: name, Arm: of.Arm, Base: base.Arm, Low: ratio.Low, High: ratio.High}
	if reason := compare.RefuseBeside(&c, beside(of), beside(base)); reason != "" {
		e.Untestable, e.refusal = true, reason
	}
}

// ofTheLink is an arm's goodput divided by the rate that its link is declared to have.
func ofTheLink(s *cells.Dataset, i int, cell, arm string) Evidence {
	e := Evidence{Part: i, cells: []string{cell}, Of: s.BlocksOf(cell, arm)}
	e.compares(s.Header.Study, func(say words) string { return say.arm(arm) + " ÷ the link" + say.at(cell) })
	link := s.LinkPool(s.Of(cell, arm))
	if link.Count() == 0 {
		e.Untestable, e.refusal = true, "no link of a known rate lies between the two ends"
		return e
	}
	e.effects = compare.Divide(cells.PoolOf(s.TrialsOf(cell, arm), metric.Goodput), link).Effects
	e.besideOthers(s, metric.Goodput, cells.KeyOf(cell, arm), cells.KeyOf(cell, arm), stat.Estimate{Low: 1, High: 1})
	e.cannotRun(s, cell, arm)
	return e
}

// acrossCells divides an arm in one cell by a base in another, block by block.
func acrossCells(s *cells.Dataset, i int, p record.ClaimPart, of, base cells.Key) Evidence {
	e := Evidence{
		Part: i, cells: []string{of.Cell, base.Cell},
		Of: min(s.BlocksOf(of.Cell, of.Arm), s.BlocksOf(base.Cell, base.Arm)),
	}
	e.compares(s.Header.Study, func(say words) string {
		return say.arm(of.Arm) + say.at(of.Cell) + " ÷ " + say.arm(base.Arm) + say.at(base.Cell)
	})
	pairs := compare.Divide(cells.PoolOf(s.TrialsOf(of.Cell, of.Arm), p.Metric), cells.PoolOf(s.TrialsOf(base.Cell, base.Arm), p.Metric))
	e.effects = pairs.Effects
	estimate, _ := pairs.Estimate() // nothing in it is beyond any waiting where there is none
	e.besideOthers(s, p.Metric, of, base, estimate)
	e.cannotRun(s, of.Cell, of.Arm)
	e.cannotRun(s, base.Cell, base.Arm)
	return e
}

// sharesOf is the share of an activity or a function in an arm's profiles, or by how much
// that exceeds the base's, or the arm's own at the levels of From, paired by probe.
func sharesOf(s *cells.Dataset, i int, p record.ClaimPart, cell, arm string) Evidence {
	e := Evidence{Part: i, Form: Share, cells: []string{cell}, least: leastProbes}
	share := func(say words) string {
		return fmt.Sprintf("%s in the CPU profile of the %s of %s%s", p.Profile, p.End, say.arm(arm), say.at(cell))
	}
	e.compares(s.Header.Study, share)
	own, why := profile.SharesByProbe(s, cells.KeyOf(cell, arm), p.End, p.Profile)
	e.cannotRun(s, cell, arm)
	against := cells.KeyOf(cell, p.Base)
	if len(p.From) > 0 {
		elsewhere := s.CellsWith(p.From, []string{arm})
		if len(elsewhere) == 0 {
			e.Untestable, e.refusal = true, "no cell is at the levels that it is compared with"
			return e
		}
		against = cells.KeyOf(elsewhere[0], arm)
	}
	switch {
	case why != "":
		e.Untestable, e.refusal = true, why
	case p.Is == record.Above || p.Is == record.Below:
		e.effects = cells.InOrder(own)
	default:
		other, why := profile.SharesByProbe(s, against, p.End, p.Profile)
		e.Form = Points
		e.compares(s.Header.Study, func(say words) string {
			return share(say) + ", less that of " + say.arm(against.Arm) + say.at(against.Cell)
		})
		e.effects = cells.InOrder(cells.Subtract(own, other))
		if why != "" {
			e.Untestable, e.refusal = true, why
		}
	}
	e.Of = max(len(e.effects), len(own))
	return e
}

// coefficientOf is one coefficient of a fit of the study, by blocks.
func coefficientOf(s *cells.Dataset, i int, p record.ClaimPart, fits fit.Fits) []Evidence {
	at := slices.IndexFunc(fits, func(f fit.Fit) bool { return f.Spec.Title == p.Fit })
	if at < 0 {
		return nil
	}
	f := fits[at]
	e := Evidence{Part: i, Form: Coefficient, What: fmt.Sprintf("the coefficient of %s in %q", p.Term, p.Fit)}
	for _, v := range s.Trials {
		if v.Record != nil && !slices.Contains(e.cells, v.Plan.Cell) && s.IsAt(v, f.Spec.Where) {
			e.cells = append(e.cells, v.Plan.Cell)
		}
	}
	e.effects, e.refusal = f.ByBlock(p.Term), f.Reason
	e.Of = len(e.effects)
	return []Evidence{e}
}

// cannotRun marks evidence of an arm that cannot run in a cell.
func (e *Evidence) cannotRun(s *cells.Dataset, cell, arm string) {
	if reason := compare.CannotRun(s, cell, arm); reason != "" {
		e.Untestable, e.refusal = true, compare.CannotRunWords(arm, reason)
	}
}

// text prints a number of the evidence in its form.
func (e *Evidence) text(p record.ClaimPart, x float64) string {
	switch e.Form {
	case Figure:
		return part.WithUnit(x, part.ScaleFor(p.Metric, x))
	case Share:
		return part.Percent(x)
	case Points:
		return quantity.FormatFigure(100*x) + " percentage points"
	case Coefficient:
		return quantity.FormatFigure(x)
	}
	return quantity.FormatFigure(x) + "×"
}

// claimedOf says what a part asks of a number that is no ratio.
func (e *Evidence) claimedOf(p record.ClaimPart) string {
	switch p.Is {
	case record.Above, record.Below:
		return string(p.Is) + " " + e.text(p, p.Of)
	case record.Near:
		return "within " + quantity.FormatShare(p.Margin) + " of " + e.text(p, p.Of)
	case record.Higher:
		return "above 0"
	}
	return "below 0"
}
