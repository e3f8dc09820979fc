package finding

import (
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/profile"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// Find says everything that can be said about a run from its header, its plan
// and its records. The plan decides which trial belongs where; a record that
// contradicts it is invalid, one of an unknown or repeated trial is left out
// with a warning. It fails only for a study whose primary metric is not in
// the registry. It is pure: the same input gives the same findings. It does not
// change the records; Findings.Trials points to them.
func Find(header record.Header, trials []record.Trial, records []record.Record) (Findings, error) {
	s, err := cells.Read(header, trials, records)
	if err != nil {
		return Findings{}, err
	}
	noise := compare.MeasureNoise(s)
	comparisons, requirements := compared(s, noise)
	for i := range comparisons {
		if c := &comparisons[i]; c.Primary {
			c.Sentence = sentence(s, *c)
		}
	}
	f := Findings{
		Schema:    Schema,
		Run:       compare.Run{Header: header, Cells: s.Describe(), Noise: noise, Comparisons: comparisons, Requirements: requirements, Tally: s.CountTrials()},
		Stage:     compare.Settle(s, comparisons, requirements),
		Timelines: view.Timelines(s),
		Seating:   seating(s),
		Trials:    s.Trials,
		Sent:      sentBy(header, s.Trials),
	}
	f.Floors = floors(s, f.Cells)
	unread := f.profiled(s)
	for _, a := range analyses {
		a.read(s, &f)
	}
	f.Answer, f.Answers = f.answer()
	f.Warnings = append(warn(s, f), unread...)
	return f, nil
}

// profiled adds what the probes show, and returns what could not be read of them.
func (f *Findings) profiled(s *cells.Dataset) []record.Warning {
	profiles, unread := profile.Profiles(s)
	f.Profiles, f.Differences, f.Flames = profiles, profile.Differences(s), profile.Flames(s)
	if len(profiles) > 0 {
		f.ProfileFiles, f.Overheads = profile.FilesOf(s), profile.Overheads(s)
	}
	for i, p := range f.Profiles {
		f.Profiles[i].File = f.ProfileFiles.CPU(p.Cell, p.Arm, p.End)
	}
	return unread
}

// compared judges arms and requirements, but not where figures chose what was run, and
// no requirement where each trial has a rate of its own.
func compared(s *cells.Dataset, noise []compare.Noise) ([]compare.Comparison, []compare.Requirement) {
	switch study := s.Header.Study; {
	case study.Capacity != nil:
		return nil, nil
	case study.Steered():
		return nil, compare.Require(s, noise)
	}
	return compare.Compare(s, noise), compare.Require(s, noise)
}
