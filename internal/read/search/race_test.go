package search

import (
	"math"
	"slices"
	"testing"

	"netdyno/internal/record"
)

// ran is a runner with paces by block, a missing one for NaN.
func ran(name string, figures ...float64) *runner {
	r := &runner{name: name, base: name == "base", pace: map[int]float64{}, last: len(figures)}
	for i, x := range figures {
		if math.IsNaN(x) {
			r.invalid++
			continue
		}
		r.pace[i+1] = math.Log(x)
	}
	return r
}

func fieldOf(runners ...*runner) field {
	return field{spec: record.Race{Best: "exchanges_per_s", Confirm: 6}, runners: runners, margin: 0.02, block: 3, blocks: 20, rest: unbounded}
}

// before is the field before a block, with time for so many trials.
func (f field) before(block, blocks, rest int) field {
	f.block, f.blocks, f.rest = block, blocks, rest
	return f
}

func TestAnArmIsLeftOutWhenAnotherIsSurelyFaster(t *testing.T) {
	f := fieldOf(ran("base", 100, 120, 90, 101), ran("slow", 50, 60.4, 44.8, 50.6), ran("fast", 130, 157, 117.5, 131), ran("near", 129, 156, 118, 131))
	s := f.judge(4)
	if got := s.fates["slow"]; got.Fate != Slower {
		t.Errorf("an arm of half the pace: %+v", got)
	}
	if s.fates["fast"].Fate != Stayed || s.fates["near"].Fate != Stayed || !s.close || s.plain {
		t.Errorf("two arms that are alike: %+v, close %t, plain %t", s.fates, s.close, s.plain)
	}
	if one := fieldOf(ran("base", 100), ran("slow", 1)).judge(1); one.fates["slow"].Fate != Stayed || one.close {
		t.Errorf("after one block nothing is known of the noise: %+v", one.fates)
	}
}

func TestAnArmThatBreaksABoundIsLeftOutAndWinsNothing(t *testing.T) {
	within := func(r *runner, times ...float64) *runner {
		r.excess = []map[int]float64{{}}
		for i, x := range times {
			r.excess[0][i+1] = math.Log(x)
		}
		return r
	}
	f := fieldOf(within(ran("base", 100, 101, 99), 0.5, 0.51, 0.5), within(ran("large", 200, 203, 199), 3, 3.05, 3.02), within(ran("small", 110, 111, 109.5), 0.6, 0.61, 0.6))
	f.spec.Within = []record.Bound{{}}
	s := f.judge(3)
	if s.fates["large"].Fate != Broken || s.leader == nil || s.leader.name != "small" {
		t.Errorf("fates %+v, leader %+v; want large left out and small ahead", s.fates, s.leader)
	}
	c := f.before(4, 20, unbounded).nextCourse(s)
	if slices.Contains(c.run, "large") {
		t.Errorf("the next block has %v", c.run)
	}
	// Nobody keeps it: nothing is confirmed.
	f = fieldOf(within(ran("base", 100, 101, 99), 2, 2.02, 2), within(ran("other", 100, 101, 99), 3, 3.05, 3.02))
	f.spec.Within = []record.Bound{{}}
	if c := f.before(4, 20, unbounded).nextCourse(f.judge(3)); c.ended == "" || c.winner != "" {
		t.Errorf("when nobody keeps the bound: %+v", c)
	}
}

func TestAnArmThatDoesNotRunIsLeftOutAfterTwoFailures(t *testing.T) {
	broken := ran("broken", math.NaN(), math.NaN())
	broken.failed, broken.reason = 2, "no such device"
	f := fieldOf(ran("base", 100, 101), ran("other", 100, 102), broken)
	c := f.before(3, 20, unbounded).nextCourse(f.judge(2))
	if slices.Contains(c.run, "broken") || len(c.dropped) != 1 {
		t.Errorf("%+v", c)
	}
	f.baseline().failed = 2
	if c := f.before(3, 20, unbounded).nextCourse(f.judge(2)); c.racing || c.winner != "" {
		t.Errorf("a race without its baseline goes on: %+v", c)
	}
}

// Where trials do not suffice the worse half goes, but no arm that was never measured.
func TestTheWorseHalfGoesWhenTrialsAreShort(t *testing.T) {
	f := fieldOf(ran("base", 100), ran("a", 110), ran("b", 90), ran("c", 80), ran("d", math.NaN()), ran("e", 70), ran("f", 60), ran("g", 50))
	c := f.before(2, 30, 12+10).nextCourse(f.judge(1))
	if want := []string{"base", "a", "b", "d"}; !slices.Equal(c.run, want) || !c.racing {
		t.Errorf("after the first block run %v, want %v", c.run, want)
	}
	if c := f.before(2, 30, 1000-8).nextCourse(f.judge(1)); len(c.run) != 8 {
		t.Errorf("with trials enough run %v", c.run)
	}
}

func TestLevelsOfAllBlocksAddUpToTheErrorRate(t *testing.T) {
	sum := 0.0
	for n := 1; n < 100_000; n++ {
		sum += levelAfter(n)
	}
	if sum > ErrorRate || sum < 0.999*ErrorRate {
		t.Errorf("the levels add up to %g, want %g", sum, ErrorRate)
	}
}
