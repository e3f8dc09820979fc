package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/search"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// raceOf carries a race over synthetic arms out as a run does: it decides before each
// block, and what is left out leaves no record.
func raceOf(t *testing.T, speed map[string]float64, change func(h *record.Header, all []record.Record)) finding.Findings {
	t.Helper()
	o := synthetic.Options{
		Bare: true, Connections: []int{50}, SD: 0.01, BlockSD: 0.1, Blocks: 20, Primary: []string{rate},
		Arms: []synthetic.Arm{{Name: "defaults", Server: "go-grpc"}, {Name: "small", Server: "go-grpc", Speed: speed["small"]}, {Name: "large", Server: "go-grpc", Speed: speed["large"]}},
	}
	h, plan, all := synthetic.Run(o)
	plan = slices.DeleteFunc(plan, func(p record.Trial) bool { return p.Repeat })
	h.Study.Race = &record.Race{Best: rate, Confirm: 6}
	change(&h, all)
	byID := map[string]record.Record{}
	for _, r := range all {
		byID[r.Trial.ID] = r
	}
	var records []record.Record
	for block := 1; block <= o.Blocks; block++ {
		s, err := cells.Read(h, record.Allocated(plan, h.Allocations), records)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := search.Next(s, block)
		h.Allocations = append(h.Allocations, a)
		if a.Ended {
			break
		}
		for _, p := range record.Allocated(plan, h.Allocations) {
			if p.Block == block {
				records = append(records, byID[p.ID])
			}
		}
	}
	return find(t, h, record.Allocated(plan, h.Allocations), records)
}

func unchanged(*record.Header, []record.Record) {}

// Where the time is spent a confirmation ends after six blocks, which is then no race that
// still runs.
func TestAConfirmationEndsWithTheTime(t *testing.T) {
	f := raceOf(t, map[string]float64{"small": 0.6, "large": 1.3}, func(h *record.Header, all []record.Record) {
		h.Study.Race.Confirm, h.Study.Race.TimeS = 10, 100
		for i := range all {
			all[i].Timeline.EndNs = 10e9
		}
	})
	if r := f.Search.Choice; r.State != search.Confirmed || r.Gain.Blocks != 6 || r.Trials > 6+12 {
		t.Errorf("%s by %d blocks in %d trials; want confirmed by 6", r.State, r.Gain.Blocks, r.Trials)
	}
}

// The winner is confirmed by blocks that chose nothing, with the gain of these alone.
func TestARaceRecommendsAFasterArm(t *testing.T) {
	f := raceOf(t, map[string]float64{"small": 0.6, "large": 1.3}, unchanged)
	r := f.Search.Choice
	if r.State != search.Confirmed || r.Recommended != "large" || r.Gain.Blocks != 6 || len(f.Comparisons) != 0 {
		t.Fatalf("%s, recommended %s, %+v", r.State, r.Recommended, r.Gain)
	}
	if r.Gain.Low > 1.3 || r.Gain.High < 1.3 || r.Blocks+6 > 20 {
		t.Errorf("gain %.3f (%.3f–%.3f) of 1.3, %d trials", r.Gain.Ratio, r.Gain.Low, r.Gain.High, r.Trials)
	}
	for _, in := range r.Gain.In {
		if in <= r.Blocks {
			t.Errorf("block %d chose the winner and is in its gain", in)
		}
	}
	i := slices.IndexFunc(f.Search.Arms, func(c search.Arm) bool { return c.Arm == "small" })
	if c := f.Search.Arms[i]; c.Fate != search.Slower {
		t.Errorf("the slower arm: %+v", c)
	}
	if got := f.Answer.Sentence; !strings.HasPrefix(got, "Use large: ") || !strings.Contains(got, "in 6 fresh rounds") {
		t.Error(got)
	}
}

func TestARaceOfEqualArmsKeepsTheDefaults(t *testing.T) {
	f := raceOf(t, map[string]float64{"small": 1, "large": 1}, unchanged)
	if f.Search.Choice.Recommended != "defaults" || !strings.HasPrefix(f.Answer.Sentence, "Keep defaults: ") {
		t.Errorf("%s: %s", f.Search.Choice.State, f.Answer.Sentence)
	}
}

// A bound that nobody keeps, arms that fail, and a metric that nobody has: a sentence each,
// and no recommendation.
func TestARaceThatCanRecommendNothingSaysWhy(t *testing.T) {
	bound := func(text string, value float64) func(*record.Header, []record.Record) {
		return func(h *record.Header, _ []record.Record) {
			h.Study.Race.Within = []record.Bound{{Text: text, Metric: "server.rss_bytes", Value: value}}
		}
	}
	failing := func(arm string) func(*record.Header, []record.Record) {
		return func(_ *record.Header, all []record.Record) {
			for i, r := range all {
				if r.Trial.Arm == arm {
					all[i] = record.Record{Schema: r.Schema, Trial: r.Trial, StartedAt: r.StartedAt, Outcome: record.Failed,
						Failure: &record.Failure{Kind: contract.SetupFailed, Text: "it does not start"}}
				}
			}
		}
	}
	for name, c := range map[string]struct {
		change      func(*record.Header, []record.Record)
		state       search.State
		recommended string
		says        string
	}{
		"nobody keeps the bound": {bound("1MB", 1e6), search.Unkept, "", "o arm is left that keeps server RSS ≤ 1 MB. Nothing is recommended."},
		"everybody keeps it":     {bound("1TB", 1e12), search.Confirmed, "large", "it keeps server RSS ≤ 1 TB"},
		"the best does not run":  {failing("large"), search.Kept, "defaults", "Keep defaults: no other arm came out ahead of it by more than 2 %"},
		"the defaults do not":    {failing("defaults"), search.Unkept, "", "The baseline's trials failed or are not valid, so nothing can be compared with it. Nothing is recommended."},
		"a metric of nobody": {func(h *record.Header, _ []record.Record) { h.Study.Race.Best = "link_rate_share" }, search.Unkept, "",
			"No trial has a valid link_rate_share. Nothing is recommended."},
	} {
		f := raceOf(t, map[string]float64{"small": 0.6, "large": 1.3}, c.change)
		text := f.Answer.Sentence
		if f.Search.Choice.State != c.state || f.Search.Choice.Recommended != c.recommended || !strings.Contains(text, c.says) {
			t.Errorf("%s: %s, recommended %q: %s", name, f.Search.Choice.State, f.Search.Choice.Recommended, text)
		}
	}
}

// A block of the confirmation that lost a trial is made up for by another one.
func TestAConfirmationMakesUpForLostBlocks(t *testing.T) {
	lost := []int{5, 7} // the race is decided before
	f := raceOf(t, map[string]float64{"small": 0.6, "large": 1.3}, func(_ *record.Header, all []record.Record) {
		for i, r := range all {
			if slices.Contains(lost, r.Trial.Block) {
				all[i] = record.Record{Schema: r.Schema, Trial: r.Trial, StartedAt: r.StartedAt, Outcome: record.Failed,
					Failure: &record.Failure{Kind: contract.Timeout, Text: "the host stood still"}}
			}
		}
	})
	r := f.Search.Choice
	if r.State != search.Confirmed || r.Blocks >= lost[0] || r.Gain.Blocks != 6 {
		t.Fatalf("%s after a race of %d blocks, confirmed in %v", r.State, r.Blocks, r.Gain.In)
	}
	if last := r.Gain.In[5]; last != r.Blocks+6+len(lost) || slices.ContainsFunc(r.Gain.In, func(in int) bool { return slices.Contains(lost, in) }) {
		t.Errorf("confirmed in %v after block %d; want 6 blocks without %v", r.Gain.In, r.Blocks, lost)
	}
}
