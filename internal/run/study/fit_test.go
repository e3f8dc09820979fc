package study_test

import (
	"errors"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdyno/internal/record"
	"netdyno/internal/run/study"
	"netdyno/internal/run/study/source"
)

func estimate(trials []record.Trial) study.Estimate {
	return study.EstimateTime(trials, study.Pace{Overhead: 200 * time.Millisecond})
}

func takes(t testing.TB, s *study.Study) (time.Duration, []record.Trial) {
	t.Helper()
	trials, _, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	trials = study.Before(trials, s.Blocks)
	return estimate(trials).Total, trials
}

func builtIn(t testing.TB, name string) *study.Study {
	t.Helper()
	s, err := source.ParseArgs([]string{name}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// cellsOf are the cells of a plan, and the arms of all of them.
func cellsOf(trials []record.Trial) (cells, arms map[string]map[string]string) {
	cells, arms = map[string]map[string]string{}, map[string]map[string]string{}
	for _, t := range trials {
		cells[t.Cell], arms[t.Arm] = t.Levels, t.Levels
	}
	return cells, arms
}

// claimed tells whether a claim names a cell by levels.
func claimed(s *study.Study, levels map[string]string) bool {
	named := func(where map[string]string) bool {
		for factor, level := range where {
			if levels[factor] != level {
				return false
			}
		}
		return len(where) > 0
	}
	return slices.ContainsFunc(s.Claims, func(c record.Claim) bool {
		return slices.ContainsFunc(c.Parts, func(p record.ClaimPart) bool { return named(p.Where) || named(p.From) })
	})
}

// Whatever the time, a study that is fitted into it takes no longer by the estimate, has
// as many blocks as a verdict needs, all arms, and every cell that a claim names, and can
// be written and read again. A study that is refused names a time into which it fits.
func TestAFittedStudyKeepsTheRule(t *testing.T) {
	const verdict = 6 // blocks
	for _, name := range source.List() {
		s := builtIn(t, name)
		if s.Mesh || s.Steered() {
			continue
		}
		whole, all := takes(t, s)
		cells, arms := cellsOf(all)
		check := func(r interface{ Fatalf(string, ...any) }, limit time.Duration) {
			fitted, words, err := source.Fit(s, limit, estimate)
			var long *study.TooLongError
			if errors.As(err, &long) {
				if long.Least <= limit {
					r.Fatalf("%s needs %v and is refused for %v", name, long.Least, limit)
				}
				least, _, err := source.Fit(s, long.Least, estimate)
				if err != nil {
					r.Fatalf("%s does not fit into its least time %v: %v", name, long.Least, err)
				}
				if now, _ := takes(t, least); now > long.Least || long.Least-now > time.Millisecond {
					r.Fatalf("%s says that its least takes %v, and its plan takes %v", name, long.Least, now)
				}
				return
			}
			if err != nil {
				r.Fatalf("%s in %v: %v", name, limit, err)
			}
			now, left := takes(t, fitted)
			_, keptArms := cellsOf(left)
			switch {
			case now > limit:
				r.Fatalf("%s takes %v of %v", name, now, limit)
			case fitted.Blocks < min(verdict, s.Blocks):
				r.Fatalf("%s in %v has %d blocks", name, limit, fitted.Blocks)
			case len(keptArms) != len(arms) && len(s.Sweeps) == 0:
				r.Fatalf("%s in %v has %d of %d arms", name, limit, len(keptArms), len(arms))
			case (len(words) == 0) != (len(left) == len(all)):
				r.Fatalf("%s in %v: %v of %v, and left out are %q", name, limit, now, whole, words)
			}
			for cell, levels := range cells {
				if claimed(s, levels) && !slices.ContainsFunc(left, func(t record.Trial) bool { return reflect.DeepEqual(t.Levels, levels) }) {
					r.Fatalf("%s in %v lacks cell %q, which a claim names", name, limit, cell)
				}
			}
			text, err := source.YAML(fitted)
			if err != nil {
				r.Fatalf("%s in %v: %v", name, limit, err)
			}
			again, err := source.ParseFile("fitted.yaml", text)
			if err != nil {
				r.Fatalf("%s in %v cannot be read again: %v\n%s", name, limit, err, text)
			}
			if _, same := takes(t, again); !reflect.DeepEqual(same, left) {
				r.Fatalf("%s in %v: read again its plan is another", name, limit)
			}
		}
		for _, limit := range []time.Duration{whole, whole * 4 / 5, whole / 3, 0} {
			check(t, limit)
		}
		if len(all) < 60 || len(all) < 300 && os.Getenv("NETDYNO_SOAK") != "" { // of a long plan a hundred times take minutes
			rapid.Check(t, func(r *rapid.T) {
				check(r, time.Duration(rapid.Int64Range(0, int64(whole)).Draw(r, "time")))
			})
		}
	}
}

// By the rule: looks, probes, the middle of levels, later sweeps; what a claim names stays.
func TestWhatIsLeftOutFirst(t *testing.T) {
	const text = `
study: s
vary:
  transport: [go-net, go-epoll]
hold: {window: 1s, warmup: 0s}
sweeps:
  - {name: first, vary: {connections: [1, 10, 50, 100, 1000]}}
  - {name: second, hold: {connections: 7}, vary: {inflight: [1, 2]}}
compare: {baseline: go-net, primary: [exchanges_per_s]}
blocks: [6, 10]
probes: 1
claims:
  - title: fifty are enough
    parts: [{metric: exchanges_per_s, is: higher, arms: [go-epoll], base: go-net, where: {connections: 50}}]
`
	s, err := source.ParseFile("s.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	each := 1200 * time.Millisecond // a trial; a block has 7 cells of 3
	for _, c := range []struct {
		trials int
		want   string
	}{
		{10*21 + 14, ""},
		{10*21 + 13, "4 of 10 blocks"},
		{6*21 + 14, "4 of 10 blocks"},
		{6 * 21, "4 of 10 blocks; probes"},
		{6 * 18, "connections=10 of sweep first; 4 of 10 blocks; probes"},
		{6 * 15, "connections=10,100 of sweep first; 4 of 10 blocks; probes"},
		{6 * 9, "sweeps second; connections=10,100 of sweep first; 4 of 10 blocks; probes"},
		{6*9 - 1, "does not fit"},
	} {
		_, words, err := source.Fit(s, time.Duration(c.trials)*each+time.Millisecond, estimate)
		if err != nil {
			words = []string{err.Error()}
		}
		if got := strings.Join(words, "; "); got != c.want && !(c.want == "does not fit" && strings.Contains(got, c.want)) {
			t.Errorf("%d trials: without %q, want %q", c.trials, got, c.want)
		}
	}
}
