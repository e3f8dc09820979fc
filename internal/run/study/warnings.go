package study

import (
	"fmt"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// fewestBlocks is the least number that can be judged: with it a two-sided sign-flip
// p, 2/2ⁿ, can fall below 0.05 (specification §6.3).
const fewestBlocks = 6

// warnings names what the plan cannot tell, before it is run.
func (s *Study) warnings() []record.Warning {
	var out []record.Warning
	if s.Mesh {
		return s.warnMesh()
	}
	if s.Blocks < fewestBlocks && s.Settle == 0 {
		out = append(out, record.Warning{
			About:  "blocks",
			Text:   fmt.Sprintf("with %s p cannot fall below %.3g, so no comparison can be better or worse", quantity.Plural(s.Blocks, "block"), 2/float64(int(1)<<s.Blocks)),
			Advice: fmt.Sprintf("run at least %d blocks", fewestBlocks),
		})
	}
	if s.Settle == 0 && s.SettleS == 0 { // a time ends a run after any of them
		out = append(out, s.warnStages()...)
	}
	out = append(out, s.warnKept()...)
	out = append(out, s.warnThin()...)
	out = append(out, s.aliasedCells()...)
	out = append(out, s.warnLadders()...)
	compared := s.Compare.Factor == ArmFactor
	if compared {
		out = append(out, confoundedArms(s.Arms, s.Compare.Baseline)...)
	}
	if len(s.Arms) > 2 || len(s.Arms) == 2 && !compared { // two arms that are compared: already said above
		out = append(out, aliasedFactors(s.Arms)...)
	}
	return out
}

// warnStages names stages after which no run can stop.
func (s *Study) warnStages() []record.Warning {
	var out []record.Warning
	looks := s.looks()
	for _, n := range looks {
		if n < fewestBlocks && n < looks[len(looks)-1] {
			out = append(out, record.Warning{
				About:  "stages",
				Text:   fmt.Sprintf("no run can stop after the stage of %d blocks, as p cannot fall below %.3g with them", n, 2/float64(int(1)<<n)),
				Advice: fmt.Sprintf("begin with at least %d blocks", fewestBlocks),
			})
		}
	}
	return out
}
