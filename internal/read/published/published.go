// Package published sets what publications say of a study's arms beside what was measured:
// ratios, where the run meets a publication's conditions. It is pure.
package published

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// Figures are those of a study.
type Figures []Figure

// Figure is a publication's ratio: beside the measured one where the run
// meets the publication's conditions, else with those that it does not meet.
type Figure struct {
	record.Published
	Cell     string        `json:"cell"`
	Measured float64       `json:"measured"` // 0 when there is none
	Low      float64       `json:"low"`      // the interval of the comparison of the two arms
	High     float64       `json:"high"`
	Unmet    []cells.Unmet `json:"unmet,omitempty"` // conditions that no cell meets; then nothing is measured

	at string // the levels that tell it from others of the same arms
}

// Read sets published ratios beside measured ones of the same metric and
// arms, whichever of the arms this study's baseline is, in every cell that
// meets the publication's conditions.
func Read(s *cells.Dataset, comparisons []compare.Comparison) Figures {
	judged := compare.JudgedAt(comparisons)
	var all Figures
	for _, p := range s.Header.Study.Published {
		for _, one := range figuresOf(s, p, judged) {
			one.at = told(s, one)
			all = append(all, one)
		}
	}
	return all
}

func figuresOf(s *cells.Dataset, p record.Published, judged compare.Levels) Figures {
	if p.Unmeasured != "" {
		return Figures{{Published: p}}
	}
	var beside Figures
	var nearest []cells.Unmet
	for _, at := range places(s, p) {
		differs := at.unmet(s, p)
		if len(differs) > 0 {
			nearest = cells.Nearer(nearest, differs)
			continue
		}
		one := Figure{Published: p, Cell: at.cell}
		level := s.Level()
		if at.cell == at.base {
			level = cmp.Or(judged.Of(at.cell, p.Metric, p.Arm, p.Base), level)
		}
		pairs := compare.Divide(cells.PoolOf(s.TrialsOf(at.cell, p.Arm), p.Metric), at.of(s, p))
		if e, ok := pairs.EstimateAt(level); ok && cells.Known(len(pairs.Ratios), e.Point, e.Low, e.High) {
			one.Measured, one.Low, one.High = e.Point, e.Low, e.High
		}
		beside = append(beside, one)
	}
	if len(beside) == 0 {
		beside = Figures{{Published: p, Cell: p.Cell, Unmet: nearest}}
	}
	return beside
}

// place is where an arm and its base were measured. The base is the link where it has no
// cell.
type place struct{ cell, base string }

// places returns where the arms of a figure were measured.
func places(s *cells.Dataset, p record.Published) (all []place) {
	for _, cell := range s.CellsWith(nil, []string{p.Arm}) {
		switch {
		case p.Cell != "" && p.Cell != cell:
		case p.Base == record.TheLink:
			all = append(all, place{cell: cell})
		case len(p.BaseWhere) > 0:
			for _, base := range s.CellsWith(p.BaseWhere, []string{p.Base}) {
				all = append(all, place{cell, base})
			}
		case len(s.Of(cell, p.Base)) > 0:
			all = append(all, place{cell, cell})
		}
	}
	return all
}

// unmet returns the conditions of a figure that are not met there. A base in another cell
// than the arm has to meet those that are no matter of cells.
func (at place) unmet(s *cells.Dataset, p record.Published) []cells.Unmet {
	if at.cell == at.base {
		return s.Unmet(p.Under, at.cell, p.Arm, p.Base)
	}
	differs := s.Unmet(p.Under, at.cell, p.Arm)
	if at.base == "" || len(differs) > 0 {
		return differs
	}
	under := maps.Clone(p.Under)
	for _, varied := range s.Header.Study.Vary {
		delete(under, varied.Name)
	}
	return s.Unmet(under, at.base, p.Base)
}

// of gathers the base's figures by block; of a link that has no known rate there are none.
func (at place) of(s *cells.Dataset, p record.Published) *cells.Pool {
	if p.Base == record.TheLink {
		return s.LinkPool(s.Of(at.cell, p.Arm))
	}
	return cells.PoolOf(s.TrialsOf(at.base, p.Base), p.Metric)
}

// told names the levels that tell a figure from others of the same arms: those of its
// conditions that the study varies and some cell meets.
func told(s *cells.Dataset, f Figure) string {
	var levels []string
	for _, varied := range s.Header.Study.Vary {
		level, stated := f.Under[varied.Name]
		unmet := slices.ContainsFunc(f.Unmet, func(u cells.Unmet) bool { return u.Condition == varied.Name })
		if stated && !unmet {
			levels = append(levels, varied.Name+"="+level)
		}
	}
	return strings.Join(levels, " ")
}

// notBeside says why a figure stands beside no measurement; "" for one that does.
func (f Figure) notBeside() string {
	switch {
	case f.Unmeasured != "":
		return "published, not measured here: " + f.Unmeasured
	case len(f.Unmet) > 0:
		return "published under other conditions: " + cells.Conditions(f.Unmet)
	}
	return ""
}
