package session

import (
	"errors"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
	"netdyno/internal/run/study"
)

const placement = "placement"

// fewCPUs returns why server and clients of a kind of trial cannot have CPUs of their own;
// nil where they can, or need none.
func (s *Session) fewCPUs() error {
	for _, k := range s.Kinds {
		if _, _, err := s.site.seat(k.Work); errors.Is(err, rig.ErrFewCPUs) {
			return err
		}
	}
	return nil
}

// shareCPUs has server and clients share CPUs where they cannot have their own and nobody
// said which they get, and says so. Otherwise the whole study is refused, not each of its
// trials. The study tells it, so that a run that goes on keeps its plan.
func (s *Session) shareCPUs() error {
	why := s.fewCPUs()
	if why == nil {
		return nil
	}
	for factor := range s.Study.Levels() {
		if factor == placement {
			return why
		}
	}
	s.Study.Hold = append(s.Study.Hold, study.Setting{Factor: placement, Level: study.Level{Text: record.Shared}})
	for _, t := range s.All {
		t.Levels[placement] = record.Shared // of trials of one cell and arm it is one map
	}
	for _, t := range s.Trials {
		t.Levels[placement] = record.Shared
	}
	for i := range s.Kinds {
		s.Kinds[i].Placement = record.Shared
	}
	s.Warnings = append(s.Warnings, record.Warning{
		About:  placement,
		Text:   "only one CPU may be used here, so server and clients share it (placement=shared): CPU time of one delays the other",
		Advice: "measure on a host with at least two CPUs, or on two hosts",
	})
	return s.fewCPUs()
}
