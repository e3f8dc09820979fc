package finding

import (
	"fmt"
	"math"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// Level is the significance that a verdict needs, of adjusted p values; the
// stages of a study share it out.
const Level = 0.05

// DefaultMargin is the ratio − 1 below which a difference is none, when the
// study declares no margin.
const DefaultMargin = 0.02

// Find says everything that can be said about a run from its header, its plan
// and its records. The plan decides which trial belongs where; a record that
// contradicts it is invalid, one of an unknown or repeated trial is left out
// with a warning. It fails only for a study whose primary metric is not in
// the registry. It is pure: the same input gives the same findings, and it
// neither changes the records nor keeps them.
func Find(header record.Header, trials []record.Trial, records []record.Record) (Findings, error) {
	s, err := read(header, trials, records)
	if err != nil {
		return Findings{}, err
	}
	noise := s.noise()
	comparisons, requirements := s.compare(noise), s.require(noise)
	for i := range comparisons {
		if c := &comparisons[i]; c.Primary {
			c.Sentence = s.sentence(*c)
		}
	}
	f := Findings{
		Run:     Run{Header: header, Cells: s.describeCells(), Noise: noise, Comparisons: comparisons, Requirements: requirements, Tally: s.tally()},
		Answers: s.answer(comparisons), Published: s.publish(), Charts: s.charts(), Fits: s.fits(), Searches: s.searches(), Claims: s.claims(),
	}
	f.Stage = s.settle(comparisons, requirements)
	f.Seating = s.seating()
	profiles, unread := s.profiles()
	f.Profiles = profiles
	f.Warnings = append(s.warn(f), unread...)
	return f, nil
}

// read sorts a run's records into its plan and examines each.
func read(header record.Header, trials []record.Trial, records []record.Record) (*dataset, error) {
	for _, name := range header.Study.Compare.Primary {
		if _, err := metric.Named(name); err != nil {
			return nil, fmt.Errorf("read compare.primary: %w", err)
		}
	}
	s := sortOut(header, trials, records)
	examineAll(s.views)
	shareLinks(header.Facts, s.views)
	limitByLink(s.views)
	return s, nil
}

// margin returns the study's margin; one that is not a sensible ratio counts
// as undeclared.
func margin(c record.Compare) float64 {
	if c.Margin > 0 && c.Margin < 10 {
		return c.Margin
	}
	return DefaultMargin
}

// usable tells whether x can be divided by and drawn on a log scale.
func usable(x float64) bool { return x > 0 && !math.IsInf(x, 1) && !math.IsNaN(x) }
