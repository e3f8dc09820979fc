package compare

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// ClaimState is what the records say of a claim.
type ClaimState string

// The states of a claim, of each of its parts and of their evidence.
const (
	Holds          ClaimState = "holds"
	DoesNotHold    ClaimState = "does not hold"
	ClaimUndecided ClaimState = "cannot tell"
)

// Claim is a claim that the study declares, with what it rests on.
type Claim struct {
	Spec     record.Claim `json:"spec"`
	State    ClaimState   `json:"state"`
	Level    float64      `json:"level"`    // of the look that the run is judged at
	Evidence []Evidence   `json:"evidence"` // by part, then by cell and arm
	Sentence string       `json:"sentence"` // by package finding
}

// Evidence is one comparison that a claim demands. Ratio is arm ÷ base; of
// steadier it is how much the ratios of Than vary ÷ how much those of the arms
// do.
type Evidence struct {
	Part   int        `json:"part"` // of Spec.Parts, from 0
	What   string     `json:"what"` // "w512k-r0 ÷ w0-r0 at inflight=4"
	Ratio  float64    `json:"ratio"`
	Low    float64    `json:"low"` // interval of confidence 1 − Level; equal to Ratio when Blocks < 2
	High   float64    `json:"high"`
	Blocks int        `json:"blocks"`
	State  ClaimState `json:"state"`
	Reason string     `json:"reason,omitempty"`

	effects []float64 // logarithms of the blocks' ratios
	refusal string
}

// Claims judges what the study claims (specification §6.13).
func Claims(s *cells.Dataset) []Claim {
	var all []Claim
	for _, spec := range s.Header.Study.Claims {
		all = append(all, claimOf(s, spec))
	}
	return all
}

func claimOf(s *cells.Dataset, spec record.Claim) Claim {
	c := Claim{Spec: spec, Level: s.Level()}
	missing := false
	for i, p := range spec.Parts {
		evidence := evidence(s, i, p)
		missing = missing || len(evidence) == 0
		c.Evidence = append(c.Evidence, evidence...)
	}
	c.State = Holds
	for i := range c.Evidence {
		e := &c.Evidence[i]
		e.judge(spec.Parts[e.Part], c.Level, c.Level/float64(len(c.Evidence)))
		c.State = c.State.and(e.State)
	}
	if missing {
		c.State = c.State.and(ClaimUndecided)
	}
	return c
}

// and is the state of two conditions together.
func (a ClaimState) and(b ClaimState) ClaimState {
	switch {
	case a == DoesNotHold || b == DoesNotHold:
		return DoesNotHold
	case a == ClaimUndecided || b == ClaimUndecided:
		return ClaimUndecided
	}
	return Holds
}

// evidence gathers what a part of a claim demands.
func evidence(s *cells.Dataset, part int, p record.ClaimPart) []Evidence {
	m, err := metric.Named(p.Metric)
	if err != nil {
		return nil
	}
	if p.Is == record.Steadier {
		return steadiness(s, part, p, m)
	}
	var all []Evidence
	for _, cell := range s.CellsWith(p.Where, append(slices.Clone(p.Arms), p.Base)) {
		for _, arm := range p.Arms {
			b := Prepare(s, cell, m, arm, p.Base)
			all = append(all, Evidence{Part: part, What: arm + " ÷ " + p.Base + cells.InCell(cell), effects: b.Pairs.Effects, refusal: b.Refusal})
		}
	}
	return all
}

// steadiness compares, block by block, how far the arms' ratios to the base
// scatter from cell to cell with how far those of the others do.
func steadiness(s *cells.Dataset, part int, p record.ClaimPart, m metric.Metric) []Evidence {
	columns := s.CellsWith(p.Where, append(slices.Concat(p.Arms, p.Than), p.Base))
	if len(columns) < 2 {
		return nil
	}
	e := Evidence{Part: part, What: fmt.Sprintf("how %s vary over %d cells ÷ how %s do", ratios(p.Than, p.Base), len(columns), ratios(p.Arms, p.Base))}
	scatter := func(arms []string) map[int]float64 {
		perBlock := map[int][]float64{} // variances, one for each arm
		for _, arm := range arms {
			logs := map[int][]float64{}
			for _, cell := range columns {
				b := Prepare(s, cell, m, arm, p.Base)
				if b.Refusal != "" {
					e.refusal = b.Refusal
				}
				for i, block := range b.Pairs.Blocks {
					logs[block] = append(logs[block], b.Pairs.Effects[i])
				}
			}
			for block, ratios := range logs {
				if sd := stat.SD(ratios); len(ratios) == len(columns) && sd > 0 {
					perBlock[block] = append(perBlock[block], sd*sd)
				}
			}
		}
		all := map[int]float64{}
		for block, variances := range perBlock {
			if len(variances) == len(arms) {
				all[block] = math.Log(stat.Mean(variances)) / 2
			}
		}
		return all
	}
	e.effects = cells.InOrder(cells.Subtract(scatter(p.Than), scatter(p.Arms)))
	return []Evidence{e}
}

func ratios(arms []string, base string) string { return strings.Join(arms, ", ") + " ÷ " + base }

// judge decides one condition. Holding it is asked of an interval at the level,
// as every condition of the claim must hold; not holding it of one at the strict
// level, since one of several that does not is enough.
func (e *Evidence) judge(p record.ClaimPart, level, strict float64) {
	e.Blocks, e.State = len(e.effects), ClaimUndecided
	log, ok := stat.MeanAt(e.effects, level)
	if e.Blocks == 1 {
		log = stat.Estimate{Point: e.effects[0], Low: e.effects[0], High: e.effects[0]}
	}
	if e.Blocks > 0 {
		e.Ratio, e.Low, e.High = cells.Finite(math.Exp(log.Point)), cells.Finite(math.Exp(log.Low)), cells.Finite(math.Exp(log.High))
	}
	switch {
	case e.refusal != "":
		e.Reason = e.refusal
		return
	case !ok || stat.MinP(e.Blocks) > level:
		e.Reason = fmt.Sprintf("%d blocks have all figures, and at least %d are needed", e.Blocks, LeastBlocks(level))
		return
	}
	within, beyond := claimBounds(p)
	surely, _ := stat.MeanAt(e.effects, strict)
	switch {
	case within <= log.Low && log.High <= beyond:
		e.State = Holds
	case surely.High < within || surely.Low > beyond:
		e.State = DoesNotHold
	default:
		e.Reason = "the interval contains a bound of the claim"
	}
}

// claimBounds returns between which logarithms of the ratio a part of a claim is
// true.
func claimBounds(p record.ClaimPart) (from, to float64) {
	margin := math.Log1p(p.Margin)
	switch p.Is {
	case record.Higher:
		return margin, math.Inf(1)
	case record.Lower:
		return math.Inf(-1), -margin
	case record.Steadier:
		return 0, math.Inf(1)
	}
	return -margin, margin
}

// Weakest returns what the state of a claim rests on: what does not hold, else
// what cannot be told, else the narrowest of what holds. Nil without evidence.
func (c *Claim) Weakest() *Evidence {
	var weakest *Evidence
	for i := range c.Evidence {
		e := &c.Evidence[i]
		if e.State == c.State && (weakest == nil || e.State == Holds && e.slack(c.Spec.Parts[e.Part]) < weakest.slack(c.Spec.Parts[weakest.Part])) {
			weakest = e
		}
	}
	return weakest
}

// slack is how far the interval stays from the nearer bound of the claim.
func (e *Evidence) slack(p record.ClaimPart) float64 {
	from, to := claimBounds(p)
	return min(math.Log(e.Low)-from, to-math.Log(e.High))
}

// Claimed says what a part of a claim asks of its ratio.
func Claimed(p record.ClaimPart) string {
	switch p.Is {
	case record.Higher:
		return "above " + quantity.FormatFigure(1+p.Margin) + "×"
	case record.Lower:
		return "below " + quantity.FormatFigure(1/(1+p.Margin)) + "×"
	case record.Steadier:
		return "above 1×"
	}
	return "within " + quantity.FormatShare(p.Margin) + " of 1"
}
