// Package compare sets arms against each other: pairs within blocks, families of
// tests, verdicts, requirements, claims, stages and the gate.
package compare

import (
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// Compare sets every arm against the baseline in every cell: first on the
// primary metrics, which form one family and are judged, then on the rest of the
// registry, which is explored and is not.
func Compare(s *cells.Dataset, noise []Noise) []Comparison {
	bounds := boundsOf(noise)
	declared, explored := lineUp(s)
	ahead := outlookOf(s)
	AdjustFamily(declared, StepDown, AdjustStepDown)
	var all []Comparison
	for _, b := range declared {
		b.Bound = max(b.Margin, bounds[[2]string{b.Cell, b.Metric}])
		b.Judge()
		b.decide(ahead)
		all = append(all, b.Comparison)
	}
	for _, b := range explored {
		b.LeaveUnjudged()
		all = append(all, b.Comparison)
	}
	return all
}

// lineUp makes the comparisons: declared ones always, explored ones where they
// have an interval.
func lineUp(s *cells.Dataset) (declared, explored []*Pending) {
	var order []metric.Metric
	seen := map[string]bool{}
	for _, name := range s.Header.Study.Compare.Primary {
		if m, err := metric.Named(name); err == nil && !seen[name] {
			seen[name] = true
			order = append(order, m)
		}
	}
	for _, m := range metric.All() {
		if m.Better != "" && !seen[m.Name] {
			order = append(order, m)
		}
	}
	base := s.Header.Study.Compare.Baseline
	for _, cell := range s.Cells {
		for _, m := range order {
			for _, arm := range s.Arms {
				if arm == base || len(s.Of(cell, arm)) == 0 {
					continue
				}
				b := Set(s, cell, m, arm, base)
				switch {
				case b.Primary:
					declared = append(declared, b)
				case b.Blocks >= 2:
					explored = append(explored, b)
				}
			}
			if s.Primary(m.Name) {
				declared = append(declared, pairsBesides(s, cell, m)...)
			}
		}
	}
	return declared, explored
}

// pairsBesides makes the comparisons that a study declares besides those with
// the baseline, where a cell has both arms.
func pairsBesides(s *cells.Dataset, cell string, m metric.Metric) []*Pending {
	var besides []*Pending
	for _, p := range s.Header.Study.Compare.Also {
		if len(s.Of(cell, p.Arm)) > 0 && len(s.Of(cell, p.Base)) > 0 {
			besides = append(besides, Set(s, cell, m, p.Arm, p.Base))
		}
	}
	return besides
}

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

// Comparison is one arm against the baseline in one cell on one metric.
type Comparison struct {
	Cell      string    `json:"cell"`
	Metric    string    `json:"metric"`
	Arm       string    `json:"arm"`
	Base      string    `json:"base"`
	Primary   bool      `json:"primary"`
	Ratio     float64   `json:"ratio"` // arm ÷ base, geometric mean of the within-block ratios; 0 for none, which is so for fewer than two blocks
	Low       float64   `json:"low"`   // interval of confidence 1 − Level
	High      float64   `json:"high"`
	Level     float64   `json:"level"` // that the adjusted p is held against: 0.05, or what a stage has of it
	Value     float64   `json:"value"` // the arm's figure over the blocks that both arms have: Ratio is Value ÷ BaseValue; 0 for none
	BaseValue float64   `json:"base_value"`
	Ratios    []float64 `json:"ratios"`            // by block
	In        []int     `json:"in,omitempty"`      // the blocks of Ratios, rising
	Blocks    int       `json:"blocks"`            // that both arms have
	Partial   bool      `json:"partial,omitempty"` // not all blocks of both, so that Value and BaseValue are not the arms' own figures
	P         float64   `json:"p,omitempty"`       // exact sign flip, two-sided; this and the next four are of primary comparisons alone
	Adjusted  float64   `json:"adjusted,omitempty"`
	Family    int       `json:"family,omitempty"` // size of the family it was adjusted in
	Method    string    `json:"method,omitempty"` // "step-down sign flip", of runs made apart "Holm"
	Bound     float64   `json:"bound,omitempty"`  // a difference inside [1/(1+Bound), 1+Bound] is none: max(margin, A/A noise)
	Verdict   Verdict   `json:"verdict"`
	Reason    string    `json:"reason,omitempty"`     // why invalid or cannot tell; of one not judged, why its figures may not be compared
	NeedsMore int       `json:"needs_more,omitempty"` // blocks it would take in all; 0 when no number of them decides it
	Decides   string    `json:"decides,omitempty"`    // of one that cannot be told: what decides it, and the command
	Sentence  string    `json:"sentence,omitempty"`   // in words, as it stands in Answers; empty when not worth saying
}

// Noise is the A/A comparison: the baseline against its own repeat.
type Noise struct {
	Cell   string    `json:"cell"`
	Metric string    `json:"metric"`
	Ratio  float64   `json:"ratio"`
	Low    float64   `json:"low"`
	High   float64   `json:"high"`
	Ratios []float64 `json:"ratios"`
	In     []int     `json:"in,omitempty"` // the blocks of Ratios, rising
	Bound  float64   `json:"bound"`        // distance of the interval from 1, as a ratio − 1; 0 when it holds 1
	P      float64   `json:"p"`
}
