package answer

import (
	"fmt"

	"netdyno/internal/quantity"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
)

// besideOthers says in how many trials other processes used the CPUs, and how much of them
// at most, where they did in most trials of some arm: whatever else a run says was measured
// beside them.
func besideOthers(r compare.Run) []clause {
	beside, valid, most, said := 0, 0, 0.0, false
	for _, cell := range r.Cells {
		for _, arm := range cell.Arms {
			of, all := 0, 0
			for _, t := range arm.Trials {
				if t.Status != trial.Valid {
					continue
				}
				if all++; t.Others > 0 {
					of, most = of+1, max(most, t.Others)
				}
			}
			beside, valid, said = beside+of, valid+all, said || 2*of > all
		}
	}
	if !said {
		return nil
	}
	return []clause{{text: fmt.Sprintf("in %d of %d trials other processes used the CPUs, up to %s of their time", beside, valid, quantity.FormatShare(most))}}
}
