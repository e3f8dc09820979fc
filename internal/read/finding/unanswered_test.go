package finding_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"netdyno/internal/read/compare"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A headline says how much was never answered before it says anything else, and has no
// percentile that hides it.
func TestTheHeadlineSaysWhatWasNeverAnswered(t *testing.T) {
	for _, c := range []struct {
		arms []synthetic.Arm
		dies map[string]float64 // share of an arm's exchanges
		want string
	}{
		{[]synthetic.Arm{{Name: "a"}}, map[string]float64{"a": 0.64}, "a never answered 64 % of its exchanges"},
		{[]synthetic.Arm{{Name: "a"}, {Name: "b"}}, map[string]float64{"b": 0.64}, "b never answered 64 % of its exchanges"},
		{[]synthetic.Arm{{Name: "a"}, {Name: "b"}}, map[string]float64{"a": 0.021, "b": 0.64}, "b never answered 64 % of its exchanges, 1 other less"},
		{[]synthetic.Arm{{Name: "a"}}, map[string]float64{"a": 0.002}, ""},
	} {
		header, trials, records := synthetic.Run(synthetic.Options{Arms: c.arms, Connections: []int{50}, Rate: 20_000, Blocks: 3, Seed: 2})
		for i := range records {
			if share := c.dies[records[i].Trial.Arm]; share > 0 {
				w := &records[i].Workers[1]
				done := float64(w.Result.Counts.Exchanges + w.Result.Drained)
				synthetic.Leave(w, map[time.Duration]int64{2420 * time.Millisecond: int64(math.Round(done * share / (1 - share)))})
			}
		}
		f := find(t, header, trials, records)
		said := strings.Join(f.Answer.Weakens, "\n")
		if c.want != "" && !strings.HasPrefix(said, c.want) || c.want == "" && strings.Contains(said, "never answered") {
			t.Errorf("%v: the first of %q, want %q", c.dies, said, c.want)
		}
		if said := f.Answer.Sentence; len(c.arms) == 1 && strings.Contains(said, "a p99 of at least 2.42 s") != (c.want != "") {
			t.Errorf("%v: %q", c.dies, said)
		}
	}
}

// A requirement of at most so much is broken by a server that died: what was measured is
// the least that it can be. It is not met by a lower bound.
func TestALowerBoundBreaksARequirement(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Arms: apart[:1], Connections: []int{50}, Rate: 20_000, Blocks: 10, SD: 0.01, Seed: 1})
	for i := range records {
		w := &records[i].Workers[1]
		synthetic.Leave(w, map[time.Duration]int64{2420 * time.Millisecond: w.Result.Counts.Exchanges})
	}
	h.Study.Requires = []record.Require{
		{Metric: "response_p99_us", Arm: "a", Bound: 5000},
		{Metric: "response_p99_us", Arm: "a", Bound: 5e6},
		{Metric: "response_p99_us", Arm: "a", Bound: 5000, AtLeast: true},
	}
	want := []compare.State{compare.Broken, compare.Undecided, compare.Undecided}
	for i, r := range find(t, h, trials, records).Requirements {
		if r.State != want[i] {
			t.Errorf("%d: %s, %q, %.4g (%.4g–%.4g); want %s", i, r.State, r.Reason, r.Value, r.Low, r.High, want[i])
		}
	}
}
