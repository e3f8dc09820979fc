package ladder_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/ladder"
	"netdyno/internal/read/profile"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

const cost = "server.cpu_us_per_exchange"

// rungs cost 12, 12.6, 18.9 and 37.8 µs for each exchange.
var rungs = []synthetic.Arm{{Name: "pooled"}, {Name: "framed", Cost: 1.05}, {Name: "copied", Cost: 1.575}, {Name: "encoded", Cost: 3.15}}

func options(blocks int) synthetic.Options {
	return synthetic.Options{
		Arms: rungs, Connections: []int{50}, Blocks: blocks, SD: 0.02, BlockSD: 0.1, Rate: 20_000, Bare: true, Seed: 5,
		Primary: []string{"response_p99_us", cost},
	}
}

// split makes one ladder over all arms of a run, changed before it is read.
func split(t *testing.T, o synthetic.Options, change func(*record.Header, []record.Record)) ladder.Split {
	t.Helper()
	h, trials, records := synthetic.Run(o)
	h.Study.Ladders = []record.Ladder{{Arms: h.Study.Vary[0].Levels, Steps: make([]record.Step, len(o.Arms)-1)}}
	if change != nil {
		change(&h, records)
	}
	s, err := cells.Read(h, trials, records)
	if err != nil {
		t.Fatal(err)
	}
	all := ladder.Read(s, compare.MeasureNoise(s), profile.Differences(s))
	if len(all) != 1 || len(all[0].Splits) != len(o.Primary)*len(o.Connections) {
		t.Fatalf("%d ladders: %+v", len(all), all)
	}
	if p := all[0].Splits[0]; p.Metric == cost {
		return p
	}
	t.Fatalf("costs come first, found %s", all[0].Splits[0].Metric)
	return ladder.Split{}
}

// addsUp holds a split to what must be so of every one.
func addsUp(t *testing.T, p ladder.Split) {
	t.Helper()
	if len(p.Steps) == 0 {
		return
	}
	ratio, added, share := 1.0, 0.0, 0.0
	for i, s := range p.Steps {
		ratio, added, share = ratio*s.Ratio, added+s.Added.Value, share+s.Share.Value
		if !(s.Low <= s.Ratio && s.Ratio <= s.High) || !(s.Added.Low <= s.Added.Value && s.Added.Value <= s.Added.High) ||
			!(s.Share.Low <= s.Share.Value && s.Share.Value <= s.Share.High) {
			t.Errorf("an estimate lies outside its interval: %+v", s)
		}
		if math.Abs(s.Ratio-s.Value/s.BaseValue) > 1e-9*s.Ratio || i > 0 && s.BaseValue != p.Steps[i-1].Value || s.Told && s.Low <= 1 && s.High >= 1 {
			t.Errorf("step %d does not agree with the one before or with itself: %+v", i, s)
		}
	}
	if math.Abs(ratio-p.Whole.Ratio) > 1e-9*ratio || math.Abs(added-p.Whole.Added.Value) > 1e-9*p.Whole.Value {
		t.Errorf("the steps make %v and %v, the whole is %v and %v", ratio, added, p.Whole.Ratio, p.Whole.Added.Value)
	}
	if p.Divided && math.Abs(share-1) > 1e-9 {
		t.Errorf("the shares add up to %v", share)
	}
}

func TestStepsMakeUpTheWhole(t *testing.T) {
	p := split(t, options(8), nil)
	addsUp(t, p)
	if !p.Divided || p.Blocks != 8 || p.Reason != "" || !p.Whole.Told {
		t.Fatalf("%+v", p)
	}
	for k, want := range []struct{ ratio, share float64 }{{1.05, 0.0425}, {1.5, 0.353}, {2, 0.604}} {
		s := p.Steps[k]
		if s.Low > want.ratio || s.High < want.ratio || s.Share.Low > want.share || s.Share.High < want.share {
			t.Errorf("step %d is %.3f and %.3f of the whole, want %v: %+v", k, s.Ratio, s.Share.Value, want, s)
		}
	}
}

// A block that any arm lacks counts for none; an arm without a figure is stepped over,
// and the step across it is not the study's.
func TestOnlyBlocksThatAllArmsHave(t *testing.T) {
	name := func(h *record.Header) {
		for k := range h.Study.Ladders[0].Steps {
			h.Study.Ladders[0].Steps[k] = record.Step{Title: "a step", Changes: []string{"codec"}}
		}
	}
	p := split(t, options(8), func(h *record.Header, records []record.Record) {
		name(h)
		for i := range records {
			if r := &records[i]; r.Trial.Arm == "copied" && r.Trial.Block <= 2 {
				r.Outcome = record.Failed
			}
		}
	})
	addsUp(t, p)
	if p.Blocks != 6 || p.Of != 8 || !p.Divided || p.Steps[1].Title != "a step" {
		t.Errorf("%d blocks: %+v", p.Blocks, p.Steps)
	}
	p = split(t, options(8), func(h *record.Header, records []record.Record) {
		name(h)
		for i := range records {
			if records[i].Trial.Arm == "copied" {
				records[i].Outcome = record.Unsupported
			}
		}
	})
	addsUp(t, p)
	if !slices.Equal(p.LeftOut, []string{"copied"}) || len(p.Steps) != 2 || p.Steps[1].Title != "" || p.Steps[0].Title == "" {
		t.Errorf("%+v", p)
	}
}

// What cannot be divided says why: too few blocks, arms that cost the same, arms
// without figures, a header that makes no sense.
func TestWhatIsNotDivided(t *testing.T) {
	alike := options(8)
	alike.Arms = []synthetic.Arm{{Name: "a"}, {Name: "b"}, {Name: "c"}}
	for name, c := range map[string]struct {
		of     synthetic.Options
		change func(*record.Header, []record.Record)
		reason string
		steps  int
	}{
		"few blocks": {options(4), nil, "all arms have valid figures in 4 of 4 blocks, too few to tell the whole apart from 1 at the level of 0.05", 3},
		"equal arms": {alike, nil, "the whole is not told apart from 1", 2},
		"one block":  {options(1), nil, "pooled and framed cannot be compared: blocks in which both arms have a valid value: 1, and at least 2 are needed", 0},
		"two arms that run": {options(8), func(_ *record.Header, records []record.Record) {
			for i := range records {
				if arm := records[i].Trial.Arm; arm == "framed" || arm == "copied" {
					records[i].Outcome = record.Unsupported
				}
			}
		}, "2 of its 4 arms have a valid figure here, and at least 3 are needed", 0},
		"an arm of no study": {options(8), func(h *record.Header, _ []record.Record) {
			h.Study.Ladders[0].Arms = []string{"pooled", "x", "y", "framed", "encoded"}
		}, "", 2},
	} {
		p := split(t, c.of, c.change)
		addsUp(t, p)
		if len(p.Steps) != c.steps || p.Divided != (c.reason == "") || p.Reason != c.reason {
			t.Errorf("%s: %d steps, divided %v, %q", name, len(p.Steps), p.Divided, p.Reason)
		}
		for _, s := range p.Steps {
			if !p.Divided && s.Share != (ladder.Part{}) {
				t.Errorf("%s: a share of nothing: %+v", name, s)
			}
		}
	}
}

// Where nothing differs, hardly any of many studies divides it; where something
// does, the intervals of ratios and shares hold the truth.
func TestSplitsOfManyStudies(t *testing.T) {
	const studies = 150
	divided, ratios, shares := 0, 0, 0
	for seed := range uint64(studies) {
		o := options(7)
		o.Seed, o.Primary, o.SD = seed, []string{cost}, 0.04
		o.Arms = []synthetic.Arm{{Name: "a"}, {Name: "b"}, {Name: "c"}}
		if split(t, o, nil).Divided {
			divided++
		}
		o.Arms = rungs
		p := split(t, o, nil)
		if s := p.Steps[1]; s.Low <= 1.5 && 1.5 <= s.High {
			ratios++
		}
		if s, want := p.Steps[2].Share, math.Log(2)/math.Log(3.15); s.Low <= want && want <= s.High {
			shares++
		}
	}
	t.Logf("of %d: nothing was divided %d times; ratios held the truth %d times, shares %d times", studies, divided, ratios, shares)
	if divided > studies/20 || ratios < studies*93/100 || shares < studies*93/100 {
		t.Errorf("of %d: nothing divided %d, ratios %d, shares %d", studies, divided, ratios, shares)
	}
}

// A step has what the profiles of its two arms say, where the metric is the one that
// they divide up.
func TestStepsHaveTheirProfiles(t *testing.T) {
	o := options(6)
	o.Probes = []synthetic.Stack{
		{Functions: []string{"runtime.memmove", "main.copy"}, CPU: 300 * time.Millisecond},
		{Functions: []string{"syscall.Syscall", "main.copy"}, CPU: 100 * time.Millisecond},
	}
	p := split(t, o, nil)
	for _, s := range append(p.Steps, p.Whole) {
		c := s.Cause
		if c == nil || c.Pairs != 1 || len(c.Activities) != 2 || c.Activities[0].Told {
			t.Errorf("from %s to %s the profiles say %+v", s.Base, s.Arm, c)
		}
	}
}
