package race

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
	for _, c := range []struct {
		spec   record.Race
		block  int
		rest   int
		scarce string
	}{
		{record.Race{}, 3, unbounded, ""},
		{record.Race{TimeS: 100}, 1, unbounded, ""}, // nothing is known yet
		{record.Race{Trials: 30}, 3, 22, ofTrials},
		{record.Race{Trials: 30, TimeS: 240}, 3, 22, ofTrials},
		{record.Race{Trials: 50, TimeS: 240}, 3, 40, ofTime},
		{record.Race{Trials: 50, TimeS: 240}, 2, 44, ofTime},
		{record.Race{TimeS: 30}, 3, -2, ofTime},
	} {
		if rest, scarce := remaining(s, c.spec, c.block); rest != c.rest || scarce != c.scarce {
			t.Errorf("%+v before block %d: %d trials left (%q), want %d (%q)", c.spec, c.block, rest, scarce, c.rest, c.scarce)
		}
	}
	f := fieldOf(ran("base", 100), ran("a", 110))
	if c := f.nextCourse(f.judge(1), record.Race{Confirm: 6}, limits{block: 2, blocks: 20, rest: 13, scarce: ofTime}); c.ended != "the time of the race is spent" || c.winner != "a" {
		t.Errorf("with time for the confirmation alone: %+v", c)
	}
}
