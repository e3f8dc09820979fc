package session

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

// fitTime fits a study into the time that was asked for, if one was; the rig stands. One that
// cannot be is refused with its least time, and with its quick version.
func (s *Session) fitTime(chosen *study.Study) (fitted *study.Study, err error) {
	if s.request.Time == 0 {
		return chosen, nil
	}
	estimate := func(trials []record.Trial) study.Estimate { return estimate(trials, s.site.rig, 0) }
	fitted, s.LeftOut, err = source.Fit(chosen, s.request.Time, estimate)
	var long *study.TooLongError
	if errors.As(err, &long) {
		if takes, name := quickOf(chosen.Name, estimate); name != "" {
			return nil, fmt.Errorf("%w; netdyno run %s takes about %s", err, name, takes.Round(time.Second))
		}
	}
	return fitted, err
}

// quickOf returns the short version of a built-in study and how long it takes; "" for none.
func quickOf(name string, estimate func([]record.Trial) study.Estimate) (takes time.Duration, quick string) {
	quick = name + "-quick"
	if !slices.Contains(source.List(), quick) {
		return 0, ""
	}
	s, err := source.ParseArgs([]string{quick}, nil)
	if err != nil {
		return 0, "" // a test holds that every built-in study can be read
	}
	trials, _, err := s.Plan()
	if err != nil {
		return 0, ""
	}
	return estimate(study.Before(trials, s.Blocks)).Total, quick
}

// Least returns the least time into which the session's study fits, and what would be left
// out then; 0 where nothing can be, or its time is bounded otherwise.
func (s *Session) Least() (time.Duration, []string) {
	_, _, err := s.Study.Fit(0, s.Estimate)
	var long *study.TooLongError
	if !errors.As(err, &long) || len(long.LeftOut) == 0 {
		return 0, nil
	}
	return long.Least, long.LeftOut
}
