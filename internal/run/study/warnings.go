package study

import (
	"fmt"
	"maps"
	"slices"

	"netdyno/internal/record"
)

// fewestBlocks is the least number with which the two-sided sign-flip p,
// 2/2ⁿ, can fall below 0.05 (METHOD §6.2).
const fewestBlocks = 6

// warnings names what the plan cannot tell, before it is run.
func (s *Study) warnings() []record.Warning {
	var out []record.Warning
	if s.Blocks < fewestBlocks {
		out = append(out, record.Warning{
			About:  "blocks",
			Text:   fmt.Sprintf("with %d blocks p cannot fall below %.3g, so no comparison can be better or worse", s.Blocks, 2/float64(int(1)<<s.Blocks)),
			Advice: fmt.Sprintf("run at least %d blocks", fewestBlocks),
		})
	}
	if s.Compare.Factor != armFactor {
		return out
	}
	out = append(out, s.confoundedArms()...)
	if len(s.Arms) > 2 { // two arms: already said above
		out = append(out, s.aliasedFactors()...)
	}
	return out
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
