package answer

import (
	"cmp"
	"fmt"
	"slices"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/part"
)

// unansweredSaid is the least share of exchanges without an answer of which a headline
// speaks: as many move a p99.
const unansweredSaid = 0.01

// unanswered says which arms left how much of their exchanges without an answer, the
// worst first: whatever else a run says of them is said of the rest.
func unanswered(r compare.Run) []clause {
	type silence struct {
		arm   string
		share float64
	}
	var all []silence
	for _, cell := range r.Cells {
		for _, arm := range cell.Arms {
			if arm.Unfinished >= unansweredSaid {
				name := arm.Name
				if len(r.Cells) > 1 {
					name = cells.ArmOf(cell, arm)
				}
				all = append(all, silence{name, arm.Unfinished})
			}
		}
	}
	if len(all) == 0 {
		return nil
	}
	slices.SortStableFunc(all, func(a, b silence) int { return cmp.Compare(b.share, a.share) })
	if len(r.Cells) == 1 && len(r.Cells[0].Arms) == 1 {
		return []clause{{text: percent(all[0].share) + " % of the exchanges were never answered", named: true}}
	}
	var parts []string
	for i, one := range all {
		text := fmt.Sprintf("%s %s %%", one.arm, percent(one.share))
		switch i {
		case 0:
			text = fmt.Sprintf("%s never answered %s %% of its exchanges", one.arm, percent(one.share))
		case armsSaid:
			parts = append(parts, quantity.Plural(len(all)-i, "other")+" fewer")
			return []clause{{text: part.And(parts), named: true}}
		}
		parts = append(parts, text)
	}
	return []clause{{text: part.And(parts), named: true}}
}
