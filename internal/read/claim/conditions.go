package claim

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// conditionsOf says under what a claim was tested: where, over which link, what limited its arms,
// and the levels that the claim is about and no cell's name has. Nil where nothing
// was measured for it.
func conditionsOf(s *cells.Dataset, spec record.Claim, evidence []Evidence) []string {
	var limits []string
	measured := false
	for _, e := range evidence {
		measured = measured || e.Blocks > 0
		p := spec.Parts[e.Part]
		for _, cell := range e.cells {
			for _, arm := range append(slices.Concat(p.Arms, p.Than), p.Base) {
				limit, _ := cells.LimitOf(s.Of(cell, arm))
				if name := cmp.Or(limit.Means().Called, string(limit)); limit != trial.Unknown && name != "" && !slices.Contains(limits, name) {
					limits = append(limits, name)
				}
			}
		}
	}
	if !measured {
		return nil
	}
	conditions := []string{cells.Place(s.Header)}
	if len(limits) > 0 {
		conditions = append(conditions, "limit: "+strings.Join(limits, ", "))
	}
	for _, factor := range slices.Sorted(maps.Keys(spec.Under)) {
		if level, held := s.Header.Study.Hold[factor]; held {
			conditions = append(conditions, cells.LevelLabel(s.Header.Study, factor, level))
		}
	}
	return conditions
}
