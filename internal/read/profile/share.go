package profile

import (
	"fmt"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
)

// SharesByProbe returns which share of an end's sampled CPU time an activity has, or a
// function with what it calls, in each probe of an arm in a cell, by the probe's block.
// Without any, or where the kernel's time is not among the samples, it says why.
func SharesByProbe(s *cells.Dataset, at cells.Key, end, of string) (byBlock map[int]float64, why string) {
	probes, _ := fit(s) // what cannot be read is named where profiles are summed up
	side := sideOf(probes[at], contract.Role(end))
	switch {
	case len(side.probes) == 0:
		return nil, fmt.Sprintf("%s has no profile of its %s%s; probes=3 takes them", at.Arm, end, cells.InCell(at.Cell))
	case side.source == NoKernel:
		return nil, fmt.Sprintf("the profiles of the %s of %s do not see the kernel, so shares of them are not of its CPU time", end, at.Arm)
	}
	activity := slices.IndexFunc(classes, func(a Activity) bool { return a.Name == of })
	byBlock = map[int]float64{}
	for _, p := range side.probes {
		t := newSampled(side.source == Mixed)
		t.addProbe(p)
		switch {
		case t.whole <= 0:
		case activity >= 0:
			byBlock[p.Plan.Block] = t.activity[activity] / t.whole
		default:
			byBlock[p.Plan.Block] = t.cumulative[of] / t.whole
		}
	}
	return byBlock, ""
}
