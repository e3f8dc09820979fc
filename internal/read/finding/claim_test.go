package finding_test

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/claim"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// claimed judges one claim over arms whose rates are the given shares of the
// baseline's, by arm and connections; blocks drift by 30 %.
func claimed(t *testing.T, blocks int, sd float64, shares map[string]map[string]float64, parts ...record.ClaimPart) claim.Claim {
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
	h.Study.Claims = []record.Claim{{Title: "It is so", Parts: parts}}
	f := find(t, h, trials, records)
	if len(f.Claims) != 1 {
		t.Fatalf("%d claims", len(f.Claims))
	}
	return f.Claims[0]
}

var planted = map[string]map[string]float64{
	"write": {"1": 0.9, "4": 0.9, "16": 0.9},     // a steady effect
	"read":  {"1": 0.995, "4": 0.8, "16": 0.998}, // none at 1 and 16 connections, much at 4
}

func TestClaimsAreJudged(t *testing.T) {
	at := func(connections string) map[string]string { return map[string]string{"connections": connections} }
	for name, c := range map[string]struct {
		part record.ClaimPart
		want claim.State
	}{
		"the same where nothing differs":    {record.ClaimPart{Metric: rate, Is: record.Same, Arms: []string{"read"}, Base: "none", Margin: 0.05, Where: at("16")}, claim.Holds},
		"the same where much differs":       {record.ClaimPart{Metric: rate, Is: record.Same, Arms: []string{"read"}, Base: "none", Margin: 0.05, Where: at("4")}, claim.DoesNotHold},
		"the same everywhere":               {record.ClaimPart{Metric: rate, Is: record.Same, Arms: []string{"read"}, Base: "none", Margin: 0.05}, claim.DoesNotHold},
		"lower by a planted tenth":          {record.ClaimPart{Metric: rate, Is: record.Lower, Arms: []string{"write"}, Base: "none", Margin: 0.02}, claim.Holds},
		"lower where nothing differs":       {record.ClaimPart{Metric: rate, Is: record.Lower, Arms: []string{"read"}, Base: "none", Margin: 0.02, Where: at("16")}, claim.DoesNotHold},
		"higher, and it is lower":           {record.ClaimPart{Metric: rate, Is: record.Higher, Arms: []string{"write"}, Base: "none", Margin: 0.02}, claim.DoesNotHold},
		"steadier than what varies":         {record.ClaimPart{Metric: rate, Is: record.Steadier, Arms: []string{"write"}, Than: []string{"read"}, Base: "none", Margin: 0.02}, claim.Holds},
		"steadier, the other way round":     {record.ClaimPart{Metric: rate, Is: record.Steadier, Arms: []string{"read"}, Than: []string{"write"}, Base: "none", Margin: 0.02}, claim.DoesNotHold},
		"of the planted size":               {record.ClaimPart{Metric: rate, Is: record.Sized, Of: 0.9, Arms: []string{"write"}, Base: "none", Margin: 0.05}, claim.Holds},
		"of twice the planted size":         {record.ClaimPart{Metric: rate, Is: record.Sized, Of: 0.8, Arms: []string{"write"}, Base: "none", Margin: 0.05}, claim.DoesNotHold},
		"lower at 4 than at 16":             {record.ClaimPart{Metric: rate, Is: record.Lower, Arms: []string{"read"}, Base: "none", Margin: 0.02, Where: at("4"), From: at("16")}, claim.Holds},
		"lower at 16 than at 4":             {record.ClaimPart{Metric: rate, Is: record.Lower, Arms: []string{"read"}, Base: "none", Margin: 0.02, Where: at("16"), From: at("4")}, claim.DoesNotHold},
		"the same effect in two cells":      {record.ClaimPart{Metric: rate, Is: record.Same, Arms: []string{"write"}, Base: "none", Margin: 0.05, Where: at("16"), From: at("1")}, claim.Holds},
		"from a cell that nobody ran":       {record.ClaimPart{Metric: rate, Is: record.Lower, Arms: []string{"read"}, Base: "none", Margin: 0.02, Where: at("4"), From: at("7")}, claim.Undecided},
		"of a cell that nobody ran":         {record.ClaimPart{Metric: rate, Is: record.Same, Arms: []string{"read"}, Base: "none", Margin: 0.05, Where: at("7")}, claim.Undecided},
		"steadier over the only cell there": {record.ClaimPart{Metric: rate, Is: record.Steadier, Arms: []string{"write"}, Than: []string{"read"}, Base: "none", Where: at("4")}, claim.Undecided},
	} {
		got := claimed(t, 8, 0.004, planted, c.part)
		if got.State != c.want || !strings.HasPrefix(strings.ToLower(got.Sentence), string(got.Outcome)) {
			t.Errorf("%s: %s, want %s: %s", name, got.State, c.want, got.Sentence)
		}
		for _, e := range got.Evidence {
			if e.Blocks >= 2 && !(e.Low <= e.Ratio && e.Ratio <= e.High) {
				t.Errorf("%s: %v lies outside %v–%v", name, e.Ratio, e.Low, e.High)
			}
		}
	}
}

// judgedClaim judges a claim on a run that is changed before it is read.
func judgedClaim(t *testing.T, spec record.Claim, change func(record.Trial, *record.Record)) claim.Claim {
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
	h.Study.Claims = []record.Claim{spec}
	return find(t, h, trials, records).Claims[0]
}

// What cannot be tested says why: the arm that cannot run, the condition that is
// not met, or what the study says itself.
func TestAClaimThatCannotBeTestedSaysWhy(t *testing.T) {
	higher := []record.ClaimPart{{Metric: rate, Is: record.Higher, Arms: []string{"write"}, Base: "none", Margin: 0.02}}
	lower := []record.ClaimPart{{Metric: rate, Is: record.Lower, Arms: []string{"write"}, Base: "none", Margin: 0.02}}
	absent := func(trial record.Trial, r *record.Record) {
		if trial.Arm == "write" {
			*r = record.Record{Schema: record.Schema, Trial: trial, Outcome: record.Unsupported, Failure: &record.Failure{Kind: contract.Unsupported, Text: "no RDMA device"}}
		}
	}
	for name, c := range map[string]struct {
		spec     record.Claim
		change   func(record.Trial, *record.Record)
		want     claim.Outcome
		sentence string
	}{
		"the arm cannot run":         {record.Claim{Source: "they", Parts: lower}, absent, claim.NotTestable, "write cannot run here: no RDMA device"},
		"other conditions":           {record.Claim{Source: "they", Parts: lower, Under: map[string]string{"hosts": "2+"}}, nil, claim.NotTestable, "it was published under hosts=2+ (here 1)"},
		"another cell":               {record.Claim{Source: "they", Parts: lower, Under: map[string]string{"connections": "40"}}, nil, claim.NotTestable, "connections=40 (here 1, 4)"},
		"no arm of the study":        {record.Claim{Source: "they", Unmeasured: "no arm runs muduo"}, nil, claim.NotTestable, "no arm runs muduo"},
		"one cell meets it":          {record.Claim{Source: "they", Parts: lower, Under: map[string]string{"connections": "4"}}, nil, claim.StillHolds, "Tested: loopback"},
		"published, and not so":      {record.Claim{Source: "they", Parts: higher}, nil, claim.NoLongerHolds, "No longer holds."},
		"its own, and not so":        {record.Claim{Parts: higher}, nil, claim.NeverHeld, "Does not hold."},
		"a part fails, one untested": {record.Claim{Source: "they", Parts: append(higher, record.ClaimPart{Metric: rate, Is: record.Lower, Arms: []string{"write"}, Base: "none", Margin: 0.02, Where: map[string]string{"connections": "7"}})}, nil, claim.NoLongerHolds, "No longer holds."},
	} {
		got := judgedClaim(t, c.spec, c.change)
		if got.Outcome != c.want || !strings.Contains(got.Sentence, c.sentence) {
			t.Errorf("%s: %s, want %s: %s", name, got.Outcome, c.want, got.Sentence)
		}
	}
}

// A size that is not found says whether its direction is.
func TestASizeThatIsNotFoundSaysItsDirection(t *testing.T) {
	for of, want := range map[float64]string{0.25: "the direction holds, the size does not", 2: "it is the other way round"} {
		got := judgedClaim(t, record.Claim{Parts: []record.ClaimPart{{Metric: rate, Is: record.Sized, Of: of, Arms: []string{"write"}, Base: "none", Margin: 0.2}}}, nil)
		if got.Outcome != claim.NeverHeld || !strings.Contains(got.Sentence, want) {
			t.Errorf("of %v: %s", of, got.Sentence)
		}
	}
}

// Every part must hold, and one that does not is enough.
func TestAClaimIsAllOfItsParts(t *testing.T) {
	holds := record.ClaimPart{Metric: rate, Is: record.Lower, Arms: []string{"write"}, Base: "none", Margin: 0.02}
	fails := record.ClaimPart{Metric: rate, Is: record.Higher, Arms: []string{"write"}, Base: "none", Margin: 0.02}
	if got := claimed(t, 8, 0.004, planted, holds, holds); got.State != claim.Holds || len(got.Evidence) != 6 {
		t.Errorf("two that hold: %+v", got)
	}
	if got := claimed(t, 8, 0.004, planted, holds, fails); got.State != claim.DoesNotHold {
		t.Errorf("one that does not: %+v", got)
	}
}

func TestFewBlocksTellNothingOfAClaim(t *testing.T) {
	part := record.ClaimPart{Metric: rate, Is: record.Same, Arms: []string{"read"}, Base: "none", Margin: 0.05, Where: map[string]string{"connections": "16"}}
	if got := claimed(t, 5, 0, planted, part); got.State != claim.Undecided || !strings.Contains(got.Sentence, "at least 6 are needed") {
		t.Errorf("of 5 blocks: %s", got.Sentence)
	}
	// Noise that hides an effect leaves the claim open.
	if got := claimed(t, 8, 0.2, planted, part); got.State != claim.Undecided || got.Evidence[0].NeedsMore <= 8 || !strings.Contains(got.Sentence, "would decide") {
		t.Errorf("under noise of 20 %%: %s", got.Sentence)
	}
}

// Of claims that are false at the very edge, at most one in twenty and some is
// said to hold, and of true ones at most as many not to hold.
func TestClaimsErrAsRarelyAsTheySay(t *testing.T) {
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
		h.Study.Claims = []record.Claim{{Title: "x", Parts: []record.ClaimPart{{Metric: rate, Is: record.Same, Arms: []string{"other"}, Base: "none", Margin: 0.05}}}}
		if find(t, h, trials, records).Claims[0].State == claim.Holds {
			wrong++
		}
	}
	// One bound of two is at stake, so 2.5 % are expected; three standard deviations more are 4.9 %.
	if share := float64(wrong) / runs; share > 0.049 || math.IsNaN(share) {
		t.Errorf("%.1f %% of claims at the edge of the margin hold", 100*share)
	}
}
