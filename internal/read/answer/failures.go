package answer

import (
	"fmt"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
)

// failures says what share of the exchanges failed and why, of the worst arm: rates
// and times are of the others. much tells whether so many did that it comes first.
func failures(r compare.Run) (said []clause, much bool) {
	var worst string
	most, others := 0.0, 0
	for _, cell := range r.Cells {
		for _, arm := range cell.Arms {
			failed, share, why := arm.Failures()
			if failed == 0 {
				continue
			}
			if others++; share <= most && worst != "" {
				continue
			}
			of := "the exchanges"
			if len(r.Cells) > 1 || len(cell.Arms) > 1 {
				of += " of " + cells.ArmOf(cell, arm)
			}
			most, worst = share, fmt.Sprintf("%s %% of %s failed: %s", percent(share), of, trial.ReasonsText(why))
		}
	}
	switch {
	case others == 0:
		return nil, false
	case others > 1:
		worst += fmt.Sprintf(", and less of %s", quantity.Plural(others-1, "other"))
	}
	return []clause{{text: worst, named: true}}, most >= unansweredSaid
}
