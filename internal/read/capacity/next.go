package capacity

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// Next decides what a block of a search runs, from the records of the blocks before it:
// in the first block every arm flat out, in a closed loop, which bounds its rates; in
// every other one each arm at its own next rate. Arms that need no further window are
// left out, and when none is left the run ends. The words say how far the search is.
func Next(s *cells.Dataset, block int) (record.Allocation, string) {
	decided := record.Allocation{Block: block}
	if block <= 1 {
		return decided, ""
	}
	arms := seriesOf(s)
	at := func(key cells.Key) *series {
		return arms[slices.IndexFunc(arms, func(a *series) bool { return a.Key == key })]
	}
	run, whys := 0, []string{}
	for _, v := range s.Trials {
		if v.Plan.Block != block {
			continue
		}
		a := at(cells.KeyOf(v.Plan.Cell, v.Plan.Arm))
		levels, why := a.nextLevels()
		if why != "" {
			decided.Left = append(decided.Left, v.Plan.ID)
			whys = append(whys, a.Arm+cells.InCell(a.Cell)+" "+why)
			continue
		}
		if decided.Levels == nil {
			decided.Levels = map[string]map[string]string{}
		}
		decided.Levels[v.Plan.ID] = levels
		run++
	}
	slices.Sort(whys)
	decided.Why = strings.Join(whys, "; ")
	if run == 0 {
		decided.Left, decided.Ended = nil, true
	}
	if block%saidEach != 0 && !decided.Ended {
		return decided, ""
	}
	return decided, soFar(arms)
}

// saidEach is after how many blocks a run says what is known of its arms.
const saidEach = 5

// soFar is what is known of each arm.
func soFar(arms []*series) string {
	var parts []string
	for _, a := range arms {
		if p, ok := known(a.Tries); ok {
			e := p.capacityOf()
			parts = append(parts, fmt.Sprintf("%s%s %s–%s/s", a.Arm, cells.InCell(a.Cell), quantity.FormatFigure(e.Low), quantity.FormatFigure(e.High)))
		}
	}
	return strings.Join(parts, ", ")
}

// threeDigits rounds a rate, so that a record and a table show what was offered.
func threeDigits(rate float64) float64 {
	scale := math.Pow(10, math.Floor(math.Log10(rate))-2)
	if scale < 1 { // decimals are exact only as quotients
		return math.Round(rate/scale) / math.Round(1/scale)
	}
	return math.Round(rate/scale) * scale
}
