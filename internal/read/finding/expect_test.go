package finding_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/expect"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

const rate = "exchanges_per_s"

// scale makes a worker of a synthetic trial do a share of its work.
func scale(w *record.Worker, share float64) {
	part := func(n *int64) { *n = int64(float64(*n) * share) }
	for _, edge := range []*record.Edge{w.Open, w.Close} {
		if edge != nil {
			c := &edge.Reading.Counts
			part(&c.Exchanges)
			part(&c.SentBytes)
			part(&c.ReceivedBytes)
		}
	}
	if w.Result != nil {
		c := &w.Result.Counts
		part(&c.Exchanges)
		c.SentBytes, c.ReceivedBytes = c.Exchanges*w.Setup.Exchange.UpBytes, c.Exchanges*w.Setup.Exchange.DownBytes
	}
}

// expected judges one statement over arms whose rates are the given shares of the
// baseline's, by arm and connections; blocks drift by 30 %.
func expected(t *testing.T, blocks int, sd float64, shares map[string]map[string]float64, that ...string) expect.Result {
	t.Helper()
	o := synthetic.Options{
		Bare: true, Connections: []int{1, 4, 16}, SD: sd, BlockSD: 0.3, Blocks: blocks, Primary: []string{rate},
		Arms: []synthetic.Arm{{Name: "none"}, {Name: "write"}, {Name: "read"}},
	}
	h, trials, records := synthetic.Run(o)
	for i := range records {
		if share, known := shares[records[i].Trial.Arm][records[i].Trial.Levels["connections"]]; known {
			for j := range records[i].Workers {
				scale(&records[i].Workers[j], share)
			}
		}
	}
	h.Study.Expect = []record.Expectation{{Title: "It is so", That: that}}
	f := find(t, h, trials, records)
	if len(f.Expect) != 1 {
		t.Fatalf("%d results", len(f.Expect))
	}
	return f.Expect[0]
}

var planted = map[string]map[string]float64{
	"write": {"1": 0.9, "4": 0.9, "16": 0.9},     // a steady effect
	"read":  {"1": 0.995, "4": 0.8, "16": 0.998}, // none at 1 and 16 connections, much at 4
}

func TestStatementsAreJudged(t *testing.T) {
	for name, c := range map[string]struct {
		that string
		want expect.State
	}{
		"the same where nothing differs":    {"exchanges_per_s of read = none ± 5 % at connections=16", expect.Holds},
		"the same where much differs":       {"exchanges_per_s of read = none ± 5 % at connections=4", expect.DoesNotHold},
		"the same everywhere":               {"exchanges_per_s of read = none ± 5 %", expect.DoesNotHold},
		"lower by a planted tenth":          {"exchanges_per_s of write < none", expect.Holds},
		"lower where nothing differs":       {"exchanges_per_s of read < none at connections=16", expect.DoesNotHold},
		"higher, and it is lower":           {"exchanges_per_s of write > none", expect.DoesNotHold},
		"at most 0.95 of it":                {"exchanges_per_s of write <= 0.95 × none", expect.Holds},
		"at least 0.95 of it":               {"exchanges_per_s of write >= 0.95 × none", expect.DoesNotHold},
		"steadier than what varies":         {"spread(exchanges_per_s over none) of write < read", expect.Holds},
		"steadier, the other way round":     {"spread(exchanges_per_s over none) of read < write", expect.DoesNotHold},
		"less steady":                       {"spread(exchanges_per_s over none) of read > write", expect.Holds},
		"of the planted size":               {"exchanges_per_s of write = 0.9 × none ± 5 %", expect.Holds},
		"of twice the planted size":         {"exchanges_per_s of write = 0.8 × none ± 5 %", expect.DoesNotHold},
		"lower at 4 than at 16":             {"exchanges_per_s of read < none at connections=4 against connections=16", expect.Holds},
		"lower at 16 than at 4":             {"exchanges_per_s of read < none at connections=16 against connections=4", expect.DoesNotHold},
		"the same effect in two cells":      {"exchanges_per_s of write = none ± 5 % at connections=16 against connections=1", expect.Holds},
		"from a cell that nobody ran":       {"exchanges_per_s of read < none at connections=4 against connections=7", expect.NotTestable},
		"of a cell that nobody ran":         {"exchanges_per_s of read = none ± 5 % at connections=7", expect.NotTestable},
		"steadier over the only cell there": {"spread(exchanges_per_s over none) of write < read at connections=4", expect.NotTestable},
		"of a later version":                {"exchanges_per_s of write is fine", expect.NotTestable},
		"some of two is lower":              {"exchanges_per_s of best(read, write) < 0.95 × none at connections=16", expect.Holds},
		"none of two is higher":             {"exchanges_per_s of best(read, write) > none", expect.DoesNotHold},
		"lower than the best of two":        {"exchanges_per_s of write < best(none, read) at connections=16", expect.Holds},
		"the sum of both ends":              {"both.cpu_us_per_exchange of write = none ± 5 %", expect.DoesNotHold},
	} {
		got := expected(t, 8, 0.004, planted, c.that)
		if got.State != c.want {
			t.Errorf("%s: %s, want %s: %s", name, got.State, c.want, got.Ground)
		}
		for _, e := range got.Evidence {
			if e.Blocks >= 2 && !(e.Low <= e.Value && e.Value <= e.High) {
				t.Errorf("%s: %v lies outside %v–%v", name, e.Value, e.Low, e.High)
			}
		}
	}
}

// judged judges a statement on a run that is changed before it is read.
func judged(t *testing.T, spec record.Expectation, change func(record.Trial, *record.Record)) expect.Result {
	t.Helper()
	h, trials, records := synthetic.Run(synthetic.Options{
		Bare: true, Connections: []int{1, 4}, SD: 0.004, BlockSD: 0.3, Blocks: 8, Primary: []string{rate},
		Arms: []synthetic.Arm{{Name: "none"}, {Name: "write"}},
	})
	for i := range records {
		if records[i].Trial.Arm == "write" {
			for j := range records[i].Workers {
				scale(&records[i].Workers[j], 0.5)
			}
		}
		if change != nil {
			change(trials[i], &records[i])
		}
	}
	h.Study.Expect = []record.Expectation{spec}
	return find(t, h, trials, records).Expect[0]
}

// What cannot be tested says why: the arm that cannot run, the condition that is
// not met, or what the study says itself.
func TestAStatementThatCannotBeTestedSaysWhy(t *testing.T) {
	const higher, lower = "exchanges_per_s of write > none", "exchanges_per_s of write < none"
	absent := func(trial record.Trial, r *record.Record) {
		if trial.Arm == "write" {
			*r = record.Record{Schema: record.Schema, Trial: trial, Outcome: record.Unsupported, Failure: &record.Failure{Kind: contract.Unsupported, Text: "no RDMA device"}}
		}
	}
	of := func(under map[string]string, that ...string) record.Expectation {
		return record.Expectation{Source: "they", Under: under, That: that}
	}
	for name, c := range map[string]struct {
		spec   record.Expectation
		change func(record.Trial, *record.Record)
		want   expect.State
		ground string
	}{
		"the arm cannot run":         {of(nil, lower), absent, expect.NotTestable, "write cannot run here: no RDMA device"},
		"no arm of a best can run":   {of(nil, "exchanges_per_s of best(write) < none"), absent, expect.NotTestable, "write cannot run here: no RDMA device"},
		"other conditions":           {of(map[string]string{"hosts": "2+"}, lower), nil, expect.NotTestable, "hosts=2+ (here 1)"},
		"where it can be":            {of(map[string]string{"hosts": "2+"}, lower), nil, expect.NotTestable, "--rig ssh:HOST,HOST"},
		"another cell":               {of(map[string]string{"connections": "40"}, lower), nil, expect.NotTestable, "connections=40 (here 1, 4)"},
		"no arm of the study":        {record.Expectation{Title: "t", Unmeasured: "no arm runs muduo"}, nil, expect.NotTestable, "no arm runs muduo"},
		"one cell meets it":          {of(map[string]string{"connections": "4"}, lower), nil, expect.Holds, "Tested: loopback"},
		"published, and not so":      {of(nil, higher), nil, expect.DoesNotHold, "write ÷ none"},
		"a part fails, one untested": {of(nil, higher, lower+" at connections=7"), nil, expect.DoesNotHold, "write ÷ none"},
	} {
		got := judged(t, c.spec, c.change)
		if got.State != c.want || !strings.Contains(got.Ground, c.ground) {
			t.Errorf("%s: %s, want %s: %s", name, got.State, c.want, got.Ground)
		}
	}
}

// A size that is not found says whether its direction is.
func TestASizeThatIsNotFoundSaysItsDirection(t *testing.T) {
	for of, want := range map[string]string{"0.25": "the direction holds, the size does not", "2": "it is the other way round"} {
		got := judged(t, record.Expectation{That: []string{"exchanges_per_s of write = " + of + " × none ± 20 %"}}, nil)
		if got.State != expect.DoesNotHold || !strings.Contains(got.Ground, want) {
			t.Errorf("of %v: %s", of, got.Ground)
		}
	}
}

// Every part must hold, and one that does not is enough.
func TestAStatementIsAllOfItsConditions(t *testing.T) {
	const holds, fails = "exchanges_per_s of write < none", "exchanges_per_s of write > none"
	if got := expected(t, 8, 0.004, planted, holds, holds); got.State != expect.Holds || len(got.Evidence) != 6 {
		t.Errorf("two that hold: %+v", got)
	}
	if got := expected(t, 8, 0.004, planted, holds, fails); got.State != expect.DoesNotHold {
		t.Errorf("one that does not: %+v", got)
	}
}

func TestFewBlocksTellNothingOfAStatement(t *testing.T) {
	const that = "exchanges_per_s of read = none ± 5 % at connections=16"
	if got := expected(t, 5, 0, planted, that); got.State != expect.Undecided || !strings.Contains(got.Ground, "at least 6 are needed") {
		t.Errorf("of 5 blocks: %s", got.Ground)
	}
	// Noise that hides an effect leaves the statement open.
	if got := expected(t, 8, 0.2, planted, that); got.State != expect.Undecided || got.Evidence[0].NeedsMore <= 8 || !strings.Contains(got.Ground, "would decide") {
		t.Errorf("under noise of 20 %%: %s", got.Ground)
	}
}

// A search names the smallest levels with which each arm comes near the best: here the rate
// of one connection is half of that of four and of sixteen.
func TestTheLeastThatReachesTheBest(t *testing.T) {
	shares := map[string]map[string]float64{"none": {"1": 0.5}, "write": {"1": 0.5}, "read": {"1": 0.5, "4": 0.5, "16": 0.5}}
	got := expected(t, 8, 0.004, shares, "least connections with exchanges_per_s >= 95 % of best")
	want := map[string]expect.State{"none with connections=4": expect.Holds, "write with connections=4": expect.Holds, "read": expect.DoesNotHold}
	if got.State != expect.Holds || len(got.Evidence) != len(want) || !strings.Contains(got.Figure, "connections=4") {
		t.Errorf("%s: %+v", got.Figure, got.Evidence)
	}
	for _, e := range got.Evidence {
		for what, state := range want {
			if strings.HasPrefix(e.What, what) && e.State != state {
				t.Errorf("%s: %s, want %s", e.What, e.State, state)
			}
		}
	}
}

// What an earlier version asked is named, and the figures are read all the same.
func TestWhatIsRetiredIsNamed(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{Bare: true, Blocks: 6})
	h.Study.Retired = record.Retired{Claims: []any{"x"}, Fits: []any{"y"}}
	f := find(t, h, trials, records)
	if !slices.ContainsFunc(f.Warnings, func(w record.Warning) bool { return w.About == "expect" && strings.Contains(w.Text, "claims and fits") }) || len(f.Comparisons) == 0 {
		t.Errorf("%d comparisons, %+v", len(f.Comparisons), f.Warnings)
	}
}

// Of statements that are false at the very edge, at most one in twenty and some is said to
// hold, and of true ones at most as many not to hold.
func TestStatementsErrAsRarelyAsTheySay(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: hundreds of simulated studies")
	}
	const runs = 400
	wrong := 0
	for seed := range uint64(runs) {
		o := synthetic.Options{
			Bare: true, Connections: []int{1}, SD: 0.03, BlockSD: 0.2, Blocks: 8, Seed: seed + 1, Primary: []string{rate},
			Arms: []synthetic.Arm{{Name: "none"}, {Name: "other"}},
		}
		h, trials, records := synthetic.Run(o)
		for i := range records {
			if records[i].Trial.Arm == "other" {
				for j := range records[i].Workers {
					scale(&records[i].Workers[j], 1/1.05)
				}
			}
		}
		h.Study.Expect = []record.Expectation{{That: []string{"exchanges_per_s of other = none ± 5 %"}}}
		if find(t, h, trials, records).Expect[0].State == expect.Holds {
			wrong++
		}
	}
	// One bound of two is at stake, so 2.5 % are expected; three standard deviations more are 4.9 %.
	if share := float64(wrong) / runs; share > 0.049 || math.IsNaN(share) {
		t.Errorf("%.1f %% of statements at the edge of the margin hold", 100*share)
	}
}

// Of eight arms that all stay just at a bound, at most one study in twenty and some says
// that the best of them is above it.
func TestTheBestOfManyErrsAsRarelyAsItSays(t *testing.T) {
	runs, most := atTheEdge(60, 1000, 0.05)
	wrong := 0
	for seed := range uint64(runs) {
		o := synthetic.Options{Bare: true, Connections: []int{1}, SD: 0.03, BlockSD: 0.05, Blocks: 8, Seed: seed + 1, Primary: []string{rate}}
		for _, name := range []string{"a", "b", "c", "d", "e", "f", "g", "h", "base"} {
			o.Arms = append(o.Arms, synthetic.Arm{Name: name})
		}
		h, trials, records := synthetic.Run(o)
		h.Study.Expect = []record.Expectation{{That: []string{"exchanges_per_s of best(a, b, c, d, e, f, g, h) >= 1 × base"}}}
		if find(t, h, trials, records).Expect[0].State == expect.Holds {
			wrong++
		}
	}
	if wrong > most {
		t.Errorf("%d of %d statements on the best of equals hold", wrong, runs)
	}
}
