package answer

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// nothing says why a run has no answer.
func nothing(run compare.Run) string {
	for _, c := range run.Comparisons {
		if c.Reason != "" {
			return "Nothing was compared: " + strings.TrimSuffix(c.Reason, ".") + "."
		}
	}
	if run.Tally.Valid == 0 {
		return fmt.Sprintf("No trial of %d gave a valid figure.", run.Tally.Planned)
	}
	return "Nothing was compared: a ratio needs two arms with valid trials in two blocks."
}

// limitsSaid bounds the limits that the condition names.
const limitsSaid = 3

// condition says under what the answer holds: what limited the arms that it
// names, and where they ran.
func condition(run compare.Run, claims []Claim) string {
	named := map[string]bool{}
	for _, c := range claims {
		named[c.Base], named[c.Arm] = true, true
	}
	var limits []string
	for _, cell := range run.Cells {
		for _, arm := range cell.Arms {
			limit := string(arm.Limit)
			if (len(claims) == 0 || named[arm.Name]) && limit != "" && arm.Limit != trial.Unknown && !slices.Contains(limits, limit) {
				limits = append(limits, limit)
			}
		}
	}
	var parts []string
	if rate := run.Header.Study.Hold["rate"]; rate != "" && rate != "max" {
		parts = append(parts, "Offered rate "+cells.Spoken("rate="+rate))
	}
	switch {
	case len(limits) == 1:
		parts = append(parts, "Limit: "+limits[0])
	case len(limits) > limitsSaid:
		parts = append(parts, fmt.Sprintf("Limits: %s and %d more", strings.Join(limits[:limitsSaid], ", "), len(limits)-limitsSaid))
	case len(limits) > 1:
		parts = append(parts, "Limits: "+strings.Join(limits, ", "))
	}
	if kind := record.RigKind(run.Header.Facts.Rig); kind == "loopback" {
		parts = append(parts, "Loopback: no network was measured")
	} else if kind != "" {
		parts = append(parts, "Rig: "+run.Header.Facts.Rig)
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, ". ") + "."
}
