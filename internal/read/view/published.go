package view

import (
	"maps"
	"slices"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/record"
)

// Published is a publication's ratio: beside the measured one where the run
// meets the publication's conditions, else with those that it does not meet.
type Published struct {
	record.Published
	Cell     string  `json:"cell"`
	Measured float64 `json:"measured"` // 0 when there is none
	Low      float64 `json:"low"`      // interval of the confidence that the comparisons' have
	High     float64 `json:"high"`
	Unmet    []Unmet `json:"unmet,omitempty"` // conditions that no cell meets; then nothing is measured
}

// Unmet is a condition of a publication that the run does not meet.
type Unmet struct {
	Condition string   `json:"condition"` // a factor, or one of record.Condition…
	Published string   `json:"published"`
	Here      []string `json:"here"` // levels in the cells that come nearest; none where the trials have no level of it
}

// Publish sets published ratios beside measured ones of the same metric and
// arms, whichever of the arms this study's baseline is, in every cell that
// meets the publication's conditions.
func Publish(s *cells.Dataset) []Published {
	var all []Published
	for _, p := range s.Header.Study.Published {
		all = append(all, publishOne(s, p)...)
	}
	return all
}

func publishOne(s *cells.Dataset, p record.Published) []Published {
	if p.Unmeasured != "" {
		return []Published{{Published: p}}
	}
	var beside []Published
	var nearest []Unmet
	for _, cell := range s.Cells {
		if p.Cell != "" && p.Cell != cell || len(s.Of(cell, p.Arm)) == 0 || len(s.Of(cell, p.Base)) == 0 {
			continue
		}
		differs := differences(s, p, cell)
		if len(differs) > 0 {
			nearest = nearer(nearest, differs)
			continue
		}
		one := Published{Published: p, Cell: cell}
		if e, ok := compare.PairUp(s, cell, p.Metric, p.Arm, p.Base).EstimateAt(s.Level()); ok {
			one.Measured, one.Low, one.High = e.Point, e.Low, e.High
		}
		beside = append(beside, one)
	}
	if len(beside) == 0 {
		beside = []Published{{Published: p, Cell: p.Cell, Unmet: nearest}}
	}
	return beside
}

// nearer returns the differences of the cells that miss the fewest conditions;
// cells that miss the same ones are listed together.
func nearer(best, next []Unmet) []Unmet {
	switch {
	case best == nil || len(next) < len(best):
		return next
	case len(next) > len(best):
		return best
	}
	for i := range next {
		if next[i].Condition != best[i].Condition {
			return best
		}
	}
	for i := range next {
		for _, level := range next[i].Here {
			best[i].Here = including(best[i].Here, level)
		}
	}
	return best
}

func including(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// differences returns the conditions that the trials of a figure's two arms do
// not meet in a cell, by name.
func differences(s *cells.Dataset, p record.Published, cell string) []Unmet {
	var differs []Unmet
	for _, condition := range slices.Sorted(maps.Keys(p.Under)) {
		d := Unmet{Condition: condition, Published: p.Under[condition]}
		met := true
		for _, arm := range []string{p.Arm, p.Base} {
			level, known := conditionHere(s, condition, s.Of(cell, arm))
			met = met && known && satisfies(condition, level, d.Published)
			if known {
				d.Here = including(d.Here, level)
			}
		}
		if !met {
			differs = append(differs, d)
		}
	}
	return differs
}
