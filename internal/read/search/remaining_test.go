package search

import (
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Time is counted by what trials took, so that a slow machine runs fewer of them.
func TestTheRestOfARace(t *testing.T) {
	s := &cells.Dataset{}
	for block := 1; block <= 3; block++ {
		for range 4 {
			v := &trial.Judged{Plan: record.Trial{Block: block}}
			if block < 3 {
				v.Record = &record.Record{Timeline: record.Timeline{EndNs: 5e9}}
			}
			s.Trials = append(s.Trials, v)
		}
	}
	s.Kind.Race = &record.Race{}
	for _, c := range []struct {
		seconds     float64
		block, rest int
	}{
		{0, 3, unbounded},
		{100, 1, unbounded}, // nothing is known yet
		{240, 3, 40},
		{240, 2, 44},
		{30, 3, -2},
	} {
		s.Kind.Race.TimeS = c.seconds
		if rest := remaining(s, c.block); rest != c.rest {
			t.Errorf("%g s before block %d: %d trials left, want %d", c.seconds, c.block, rest, c.rest)
		}
	}
	f := fieldOf(ran("base", 100), ran("a", 110)).before(2, 20, 13)
	if c := f.nextCourse(f.judge(1)); c.ended != "the time of the race is spent" || c.winner != "a" {
		t.Errorf("with time for the confirmation alone: %+v", c)
	}
}
