package finding

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"netdyno/internal/metric"
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
	Low      float64 `json:"low"`   // two-sided interval of confidence 1 − Level
	High     float64 `json:"high"`
	Level    float64 `json:"level"` // as a comparison's
	Blocks   int     `json:"blocks"`
	P        float64 `json:"p"`        // exact sign flip about the bound, two-sided
	Adjusted float64 `json:"adjusted"` // over the family of all requirements, step-down
	Family   int     `json:"family"`
	State    State   `json:"state"`
	Reason   string  `json:"reason,omitempty"`  // why it cannot be told
	Decides  string  `json:"decides,omitempty"` // what would decide it, and the command
}

// require holds every requirement against its bound in every cell that has its
// levels: by the rule of comparisons, with the bound in the place of 1. All
// requirements are one family.
func (s *dataset) require(noise []Noise) []Requirement {
	bounds := boundsOf(noise)
	var family []*pending
	var asked []record.Require
	for _, r := range s.header.Study.Requires {
		if _, err := metric.Named(r.Metric); err != nil || !usable(r.Bound) {
			continue // of a damaged header
		}
		for _, cell := range s.cells {
			if !s.concerns(r, cell) {
				continue
			}
			b := s.hold(r, cell)
			if r.Base != "" {
				b.Bound = bounds[[2]string{cell, r.Metric}]
			}
			family, asked = append(family, b), append(asked, r)
		}
	}
	adjust(family, StepDown, stepDown)
	var all []Requirement
	ahead := s.outlook()
	for i, b := range family {
		all = append(all, b.requirement(asked[i], ahead))
	}
	return all
}

// concerns tells whether the arm runs in the cell at the levels of Where.
func (s *dataset) concerns(r record.Require, cell string) bool {
	views := s.of(cell, r.Arm)
	if len(views) == 0 {
		return false
	}
	for factor, level := range r.Where {
		if views[0].plan.Levels[factor] != level {
			return false
		}
	}
	return true
}

// hold sets an arm's figures against the bound: its ratio is figure ÷ bound.
func (s *dataset) hold(r record.Require, cell string) *pending {
	b := &pending{
		Comparison: Comparison{Cell: cell, Metric: r.Metric, Arm: r.Arm, Base: r.Base, Level: s.level()},
		tested:     true,
		required:   true,
		mute:       s.mute(),
	}
	if r.Base == "" {
		b.Base = r.Arm // refused for what is wrong with this arm alone
		b.pairs = s.againstBound(r, cell)
	} else {
		measured := s.pair(cell, r.Metric, r.Arm, r.Base)
		for i, block := range measured.blocks {
			b.pairs.add(block, measured.ratios[i]/r.Bound)
		}
		b.pairs.zeros = measured.zeros
	}
	s.estimate(b)
	if b.Blocks < 2 && r.Base == "" {
		b.refusal = fmt.Sprintf("blocks with a valid value: %d; at least 2 are needed%s", b.Blocks, s.tooFew(b))
	}
	return b
}

// againstBound divides an arm's figures by a bound. Where a figure is 0, which
// has no logarithm, the distances from the bound count in the place of the
// logarithms, and the mean is arithmetic.
func (s *dataset) againstBound(r record.Require, cell string) pairs {
	told := toldOf(s.trials(cell, r.Arm), r.Metric)
	p := pairs{plain: told.plain}
	for _, block := range slices.Sorted(maps.Keys(told.blocks)) {
		if log, ok := told.log(block); ok && !p.plain {
			p.add(block, math.Exp(log-math.Log(r.Bound)))
			continue
		}
		share := stat.Mean(told.blocks[block]) / r.Bound
		p.blocks, p.ratios, p.effects = append(p.blocks, block), append(p.ratios, share), append(p.effects, share-1)
	}
	return p
}

// requirement judges one requirement whose ratio is figure ÷ bound.
func (b *pending) requirement(r record.Require, ahead outlook) Requirement {
	out := Requirement{
		Require: r, Cell: b.Cell, Value: b.Ratio * r.Bound, Low: b.Low * r.Bound, High: min(b.High*r.Bound, math.MaxFloat64),
		Level: b.Level, Blocks: b.Blocks, P: b.P, Adjusted: b.Adjusted, Family: b.Family,
	}
	out.State = b.against(r)
	b.decide(ahead)
	out.Reason, out.Decides = b.Reason, b.Decides
	return out
}

// against returns the state; what is undecided leaves its reason in b.
func (b *pending) against(r record.Require) State {
	beyond := b.Low > 1+b.Bound || b.High < 1/(1+b.Bound)
	switch {
	case b.refusal != "":
		b.Reason = b.refusal
		return Undecided
	case stat.MinP(b.Blocks) > b.Level:
		b.cannotTell(tooFew, "%d blocks cannot reach p ≤ %.3g", b.Blocks, b.Level)
	case b.mute:
		b.cannotTell(unlevel, "the look after this stage has no part of the level")
	case !beyond && b.Low <= 1 && b.High >= 1:
		b.cannotTell(tooWide, "the interval holds the bound")
	case !beyond:
		b.cannotTell(tooWide, "the interval comes nearer to the bound than this run's A/A bound of %s", percent(b.Bound))
	case b.Adjusted > b.Level:
		b.cannotTell(tooWide, "adjusted p %.3g is above %.3g", b.Adjusted, b.Level)
	case (b.Ratio > 1) == r.AtLeast:
		return Met
	default:
		return Broken
	}
	return Undecided
}
