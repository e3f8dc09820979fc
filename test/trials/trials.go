// Package trials carries out typed studies for tests that look at whole trials, and repeats
// runs that a busy machine disturbed, as trials say themselves.
package trials

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
	"netdyno/internal/run/bench"
	"netdyno/internal/run/bench/benchtest"
)

// most is how often a run is made before a test sees that it was disturbed.
const most = 20

// Repeat makes a run, and makes it again as long as it was disturbed, 20 times at most: what a
// busy machine did to it says nothing of netdyno, and a run that is always disturbed has another
// cause, which the test then sees.
func Repeat(run func() (disturbed bool)) {
	for n := 1; run() && n < most; n++ {
	}
}

// Study is a study that was carried out, and what readers find in it.
type Study struct {
	Header   record.Header
	Plan     []record.Trial
	Records  []record.Record // in the plan's order
	Findings finding.Findings
}

// Run carries out a typed study, each of its trials once, and again those that were
// disturbed. It takes b.Keep for itself.
func Run(t testing.TB, b *bench.Bench, args ...string) Study {
	t.Helper()
	s := Study{}
	s.Header, s.Plan = benchtest.Plan(t, args...)
	return s.carryOut(t, b)
}

// First carries out the first trial of a typed study.
func First(t testing.TB, b *bench.Bench, args ...string) (record.Record, trial.Trial) {
	t.Helper()
	s := Study{}
	s.Header, s.Plan = benchtest.Plan(t, args...)
	s.Plan = s.Plan[:1]
	s = s.carryOut(t, b)
	return s.Records[0], s.Findings.Trials[0].Trial
}

func (s Study) carryOut(t testing.TB, b *bench.Bench) Study {
	t.Helper()
	s.Records = benchtest.Conduct(t.Context(), t, b, s.Plan)
	var again []int
	Repeat(func() bool {
		for _, i := range again {
			t.Logf("%s: %s; once more", s.Plan[i].ID, s.Findings.Trials[i].Trial.Reason)
			s.Records[i] = benchtest.Conduct(t.Context(), t, b, s.Plan[i:i+1])[0]
		}
		var err error
		if s.Findings, err = finding.Find(s.Header, s.Plan, s.Records); err != nil {
			t.Fatal(err)
		}
		again = nil
		for i, v := range s.Findings.Trials {
			if v.Trial.Status == trial.StatusInvalid && Disturbed(v.Trial.Reason) {
				again = append(again, i)
			}
		}
		return len(again) > 0
	})
	return s
}

// Disturbed tells by the reason of an invalid trial, or by a report that has it, that the
// machine was too busy for it.
func Disturbed(reason string) bool {
	reason = strings.Join(strings.Fields(reason), " ") // a report breaks its lines
	return slices.ContainsFunc([]string{
		"by its own clock, but", "by the result's clock", "by its meter's clock", "between the marks by the bench's clock", "its window is not the trial's", "stood still",
	}, func(words string) bool { return strings.Contains(reason, words) })
}
