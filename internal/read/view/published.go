package view

import (
	"cmp"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// Published is a publication's ratio: beside the measured one where the run
// meets the publication's conditions, else with those that it does not meet.
type Published struct {
	record.Published
	Cell     string        `json:"cell"`
	Measured float64       `json:"measured"` // 0 when there is none
	Low      float64       `json:"low"`      // the interval of the comparison of the two arms
	High     float64       `json:"high"`
	Unmet    []cells.Unmet `json:"unmet,omitempty"` // conditions that no cell meets; then nothing is measured
}

// Publish sets published ratios beside measured ones of the same metric and
// arms, whichever of the arms this study's baseline is, in every cell that
// meets the publication's conditions.
func Publish(s *cells.Dataset, comparisons []compare.Comparison) []Published {
	judged := compare.JudgedAt(comparisons)
	var all []Published
	for _, p := range s.Header.Study.Published {
		all = append(all, publishOne(s, p, judged)...)
	}
	return all
}

func publishOne(s *cells.Dataset, p record.Published, judged compare.Levels) []Published {
	if p.Unmeasured != "" {
		return []Published{{Published: p}}
	}
	var beside []Published
	var nearest []cells.Unmet
	for _, cell := range s.Cells {
		if p.Cell != "" && p.Cell != cell || len(s.Of(cell, p.Arm)) == 0 || len(s.Of(cell, p.Base)) == 0 {
			continue
		}
		differs := s.Unmet(p.Under, cell, p.Arm, p.Base)
		if len(differs) > 0 {
			nearest = cells.Nearer(nearest, differs)
			continue
		}
		one := Published{Published: p, Cell: cell}
		level := cmp.Or(judged.Of(cell, p.Metric, p.Arm, p.Base), s.Level())
		pairs := compare.PairUp(s, cell, p.Metric, p.Arm, p.Base)
		if e, ok := pairs.EstimateAt(level); ok && cells.Known(len(pairs.Ratios), e.Point, e.Low, e.High) {
			one.Measured, one.Low, one.High = e.Point, e.Low, e.High
		}
		beside = append(beside, one)
	}
	if len(beside) == 0 {
		beside = []Published{{Published: p, Cell: p.Cell, Unmet: nearest}}
	}
	return beside
}
