package compare

import (
	"fmt"
	"math"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// State is what became of a requirement.
type State string

// The states. Only the first opens a gate.
const (
	Met       State = "met"
	Broken    State = "broken"
	Undecided State = "cannot tell"
)

// Requirement is a declared bound in one of the cells that it is about.
type Requirement struct {
	record.Require
	Cell     string  `json:"cell"`
	Value    float64 `json:"value"` // mean over blocks in the metric's unit, or of the ratios to Base within blocks: geometric, arithmetic where some are 0
	Low      float64 `json:"low"`   // the interval that decides
	High     float64 `json:"high"`
	Interval float64 `json:"interval_level"` // these and Of as a comparison's
	Level    float64 `json:"level"`
	Blocks   int     `json:"blocks"`
	Of       int     `json:"of,omitempty"`
	P        float64 `json:"p"`        // Student's t about the bound, two-sided
	Adjusted float64 `json:"adjusted"` // over the family of all requirements, by Holm
	Family   int     `json:"family"`
	State    State   `json:"state"`
	Reason   string  `json:"reason,omitempty"`  // why it cannot be told
	Decides  string  `json:"decides,omitempty"` // what would decide it, and the command
}

// Require holds every requirement against its bound in every cell that has its
// levels: by the rule of comparisons, with the bound in the place of 1. All
// requirements are one family.
func Require(s *cells.Dataset, noise []Noise) []Requirement {
	bounds := BoundsOf(noise)
	var family []*Pending
	var asked []record.Require
	for _, r := range s.Requires {
		if _, err := metric.Named(r.Metric); err != nil || !cells.Usable(r.Bound) {
			continue // of a damaged header
		}
		for _, cell := range s.Cells {
			if !concerns(s, r, cell) {
				continue
			}
			b := hold(s, r, cell)
			if r.Base != "" {
				b.Bound = bounds[[2]string{cell, r.Metric}]
			}
			family, asked = append(family, b), append(asked, r)
		}
	}
	ShareLevel(family)
	var all []Requirement
	ahead := outlookOf(s)
	for i, b := range family {
		all = append(all, b.requirement(asked[i], ahead))
	}
	return all
}

// concerns tells whether the arm runs in the cell at the levels of Where.
func concerns(s *cells.Dataset, r record.Require, cell string) bool {
	judged := s.Of(cell, r.Arm)
	if len(judged) == 0 {
		return false
	}
	for factor, level := range r.Where {
		if judged[0].Plan.Levels[factor] != level {
			return false
		}
	}
	return true
}

// hold sets an arm's figures against the bound: its ratio is figure ÷ bound.
func hold(s *cells.Dataset, r record.Require, cell string) *Pending {
	b := &Pending{
		Comparison: Comparison{Cell: cell, Metric: r.Metric, Arm: r.Arm, Base: r.Base, Level: s.Level()},
		Tested:     true,
		required:   true,
		noVerdict:  s.NoVerdict(),
	}
	if r.Base == "" {
		b.Base = r.Arm // refused for what is wrong with this arm alone
		b.Pairs = againstBound(s, r, cell)
	} else {
		measured := PairUp(s, cell, r.Metric, r.Arm, r.Base)
		for i, block := range measured.Blocks {
			b.Pairs.addRatio(block, measured.Ratios[i]/r.Bound)
		}
		b.Pairs.zeros, b.Pairs.beside = measured.zeros, measured.beside
	}
	estimate(s, b)
	if own := r.Base == "" && !r.AtLeast && b.Low > 1; own && b.Refusal != "" && b.Refusal == refuseBound(s, b, r.Arm) {
		b.Refusal = "" // what is at least so much lies above the limit
	}
	if b.Blocks < 2 && r.Base == "" {
		b.Refusal = fmt.Sprintf("blocks that have a valid value: %d, and at least 2 are needed%s", b.Blocks, whyNoFigure(s, b))
	}
	return b
}

// againstBound divides an arm's figures by a bound. Where a figure is 0, which
// has no logarithm, the distances from the bound count in the place of the
// logarithms, and the mean is arithmetic.
func againstBound(s *cells.Dataset, r record.Require, cell string) Pairs {
	told := cells.PoolWithErrors(s.TrialsOf(cell, r.Arm), r.Metric)
	p := Pairs{plain: told.Plain}
	for _, block := range told.Rising() {
		if log, ok := told.Log(block); ok && !p.plain {
			p.addRatio(block, math.Exp(log-math.Log(r.Bound)))
			continue
		}
		share := stat.Mean(told.Of(block)) / r.Bound
		p.Blocks, p.Ratios, p.Effects = append(p.Blocks, block), append(p.Ratios, share), append(p.Effects, share-1)
	}
	return p
}

// requirement judges one requirement whose ratio is figure ÷ bound.
func (b *Pending) requirement(r record.Require, ahead outlook) Requirement {
	out := Requirement{
		Require: r, Cell: b.Cell, Value: b.Ratio * r.Bound, Low: b.Low * r.Bound, High: min(b.High*r.Bound, math.MaxFloat64),
		Interval: b.Interval, Level: b.Level, Blocks: b.Blocks, Of: b.Of, P: b.P, Adjusted: b.Adjusted, Family: b.Family,
	}
	out.State = b.against(r)
	b.decide(ahead)
	out.Reason, out.Decides = b.Reason, b.Decides
	return out
}

// against returns the state; what is undecided leaves its reason in b.
func (b *Pending) against(r record.Require) State {
	beyond := b.outside()
	switch {
	case b.Refusal != "":
		b.Reason = b.Refusal
		return Undecided
	case stat.MinP(b.Blocks) > b.Level:
		b.fewBlocks()
	case b.noVerdict:
		b.cannotTell(unlevel, "this look has no share of the significance level")
	case b.unknown():
		b.cannotTell(tooWide, FarApart)
	case !beyond && b.Low <= 1 && b.High >= 1:
		b.cannotTell(tooWide, "the interval contains the bound")
	case !beyond:
		b.cannotTell(tooWide, "the interval comes closer to the bound than %s, by which the baseline differs from itself (A/A)", quantity.ChosenShare(b.Bound))
	case (b.Ratio > 1) == r.AtLeast:
		return Met
	default:
		return Broken
	}
	return Undecided
}

// Hold holds a figure's interval against a bound.
func Hold(f cells.Figure, b record.Bound) State {
	below, above := f.High <= b.Value, f.Low >= b.Value
	switch {
	case below && !b.AtLeast, above && b.AtLeast:
		return Met
	case below, above:
		return Broken
	}
	return Undecided
}
