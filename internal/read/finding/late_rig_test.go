package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/trial"
	"netdyno/test/synthetic"
)

// A rig that reads counters late in all trials is warned of once; the trial that is later
// by far is flagged. Where most trials are on time, each late one is.
func TestLatenessIsJudgedByItsRig(t *testing.T) {
	for name, c := range map[string]struct {
		usual, one int64 // ms, in windows of 2 s
		rig        bool
		flagged    int
	}{
		"a rig that is late":               {60, 60, true, 0},
		"and one trial that is much later": {60, 199, true, 1},
		"one late trial":                   {1, 60, false, 1},
		"on time":                          {1, 1, false, 0},
	} {
		h, trials, records := synthetic.Run(synthetic.Options{Blocks: 8, Connections: []int{50}, Arms: []synthetic.Arm{{Name: "a"}, {Name: "b"}}})
		for i := range records {
			ms := c.usual
			if i == 3 {
				ms = c.one
			}
			for w := range records[i].Workers {
				at := records[i].Workers[w]
				at.Open.Meter.SkewNs, at.Close.Meter.SkewNs = ms/2*1e6, (ms-ms/2)*1e6
			}
		}
		f := find(t, h, trials, records)
		flagged := 0
		for _, v := range f.Trials {
			if slices.Contains(v.Trial.Flags, trial.LateCounters) {
				flagged++
			}
		}
		warned := warnedOf(f, trial.LateCounters)
		rig := slices.ContainsFunc(warned, func(text string) bool { return strings.Contains(text, "this rig reads CPU counters late") })
		if flagged != c.flagged || rig != c.rig {
			t.Errorf("%s: %d trials flagged, warned %q; want %d and a rig that is late %t", name, flagged, warned, c.flagged, c.rig)
		}
	}
}
