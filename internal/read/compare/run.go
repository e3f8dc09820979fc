package compare

import (
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Run is a run as judged: its figures by cell and arm, and how the arms compare.
// A gate, a calibration and a comparison of runs rest on it alone.
type Run struct {
	Header       record.Header `json:"header"`
	Cells        []cells.Cell  `json:"cells"`
	Comparisons  []Comparison  `json:"comparisons"`
	Requirements []Requirement `json:"requirements,omitempty"` // by Header.Study.Requires, then by cell
	Noise        []Noise       `json:"noise"`                  // the A/A comparisons
	Tally        cells.Tally   `json:"tally"`
}

// failing names the arms that had exchanges fail beyond what a requirement allows.
// Their other figures are of the trials in which all went well.
func (f Run) failing() []string {
	allowed := map[cells.Key]bool{}
	for _, r := range f.Requirements {
		if r.Metric == metric.ErrorShare && r.State == Met {
			allowed[cells.KeyOf(r.Cell, r.Arm)] = true
		}
	}
	var names []string
	for _, cell := range f.Cells {
		for _, arm := range cell.Arms {
			failed := slices.ContainsFunc(arm.Trials, func(t trial.Trial) bool { return t.Errors > 0 && t.Status != trial.Valid })
			if failed && !allowed[cells.KeyOf(cell.Name, arm.Name)] {
				names = append(names, cells.ArmOf(cell, arm))
			}
		}
	}
	return names
}
