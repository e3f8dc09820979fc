package finding_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/read/claim"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A figure of an arm's own, without a base, is judged by its interval over blocks.
func TestClaimsOfAFigure(t *testing.T) {
	for name, c := range map[string]struct {
		part record.ClaimPart
		want claim.State
	}{
		"above half of it":     {record.ClaimPart{Is: record.Above, Of: 8 << 20}, claim.Holds},
		"above twice of it":    {record.ClaimPart{Is: record.Above, Of: 32 << 20}, claim.DoesNotHold},
		"below twice of it":    {record.ClaimPart{Is: record.Below, Of: 32 << 20}, claim.Holds},
		"near it":              {record.ClaimPart{Is: record.Near, Of: 16 << 20, Margin: 0.1}, claim.Holds},
		"near three quarters":  {record.ClaimPart{Is: record.Near, Of: 12 << 20, Margin: 0.1}, claim.DoesNotHold},
		"of a cell never run":  {record.ClaimPart{Is: record.Above, Of: 1, Where: map[string]string{"connections": "7"}}, claim.Undecided},
		"just what it must be": {record.ClaimPart{Is: record.Above, Of: 16 << 20}, claim.Undecided},
	} {
		h, trials, records := synthetic.Run(synthetic.Options{
			Bare: true, Connections: []int{1, 4}, SD: 0.01, Blocks: 8, Primary: []string{rate}, Arms: []synthetic.Arm{{Name: "one"}, {Name: "two"}},
			Memory: func(map[string]string) float64 { return 16 << 20 },
		})
		c.part.Metric, c.part.Arms = idleRSS, []string{"one"}
		h.Study.Claims = []record.Claim{{Title: "It is so", Parts: []record.ClaimPart{c.part}}}
		got := find(t, h, trials, records).Claims[0]
		if got.State != c.want {
			t.Errorf("%s: %s, want %s: %s", name, got.State, c.want, got.Sentence)
		}
		if len(got.Evidence) > 0 && (got.Evidence[0].Form != claim.Figure || !strings.Contains(got.Sentence, "MiB") && !strings.Contains(got.Sentence, "MB")) {
			t.Errorf("%s: %+v: %s", name, got.Evidence[0], got.Sentence)
		}
	}
}

// The link is a base: a goodput is divided by the rate that it is declared to have. Where
// no rate is known the claim says where it can be tested.
func TestClaimsOfTheLink(t *testing.T) {
	for rateOfLink, want := range map[string]claim.Outcome{"8Mbit/s": claim.NeverHeld, "max": claim.NotTestable} {
		h, trials, records := synthetic.Run(synthetic.Options{Bare: true, Connections: []int{1}, SD: 0.01, Blocks: 8, Primary: []string{metric.Goodput}, Arms: []synthetic.Arm{{Name: "one"}, {Name: "two"}}})
		for i := range records {
			trials[i].Levels["link.rate"] = rateOfLink
			records[i].Trial.Levels = trials[i].Levels
		}
		h.Study.Claims = []record.Claim{{Title: "It fills it", Parts: []record.ClaimPart{{Metric: metric.Goodput, Is: record.Sized, Of: 1e-6, Margin: 0.1, Arms: []string{"one"}, Base: record.TheLink}}}}
		f := find(t, h, trials, records)
		got := f.Claims[0]
		if got.Outcome != want {
			t.Errorf("at %s: %s, want %s: %s", rateOfLink, got.Outcome, want, got.Sentence)
		}
		if want == claim.NotTestable {
			if !strings.Contains(got.Sentence, "no link of a known rate") || !strings.Contains(got.Elsewhere, "netdyno run") {
				t.Errorf("%s / %s", got.Sentence, got.Elsewhere)
			}
			continue
		}
		goodput := 0.0
		for _, m := range f.Cells[0].Arms[0].Metrics {
			if m.Metric == metric.Goodput {
				goodput = m.Value
			}
		}
		if e := got.Evidence[0]; math.Abs(e.Ratio-goodput/1e6) > 1e-9*e.Ratio || goodput == 0 {
			t.Errorf("%v of the link, want %v ÷ 1 MB/s", e.Ratio, goodput)
		}
	}
}

// A base may be measured in another cell: the blocks pair the two.
func TestClaimsAcrossCells(t *testing.T) {
	part := record.ClaimPart{
		Metric: rate, Is: record.Sized, Of: 0.8 / 0.998, Margin: 0.05, Arms: []string{"read"}, Base: "read",
		Where: map[string]string{"connections": "4"}, BaseWhere: map[string]string{"connections": "16"},
	}
	if got := claimed(t, 8, 0.004, planted, part); got.State != claim.Holds || len(got.Evidence) != 1 || got.Evidence[0].Blocks != 8 {
		t.Errorf("%s: %+v", got.Sentence, got.Evidence)
	}
	part.Where, part.Of = part.BaseWhere, 1
	if got := claimed(t, 8, 0.004, planted, part); got.State != claim.Holds || got.Evidence[0].Ratio != 1 {
		t.Errorf("a cell divided by itself: %s", got.Sentence)
	}
}

// profiled judges a claim of a study with three probes of each arm, in which the collector
// takes a share of the server's CPU time: of arm one, drawn for each probe, and of the
// other a tenth.
func profiled(t *testing.T, seed uint64, share, sd float64, part record.ClaimPart) claim.Claim {
	t.Helper()
	random := rand.New(rand.NewPCG(seed, 3))
	h, trials, records := synthetic.Run(synthetic.Options{
		Bare: true, Connections: []int{1}, Blocks: 6, Seed: seed, Primary: []string{rate}, Arms: []synthetic.Arm{{Name: "one"}, {Name: "two"}}, Probes: stacks,
	})
	for i, planned := range trials {
		if !planned.Probe {
			continue
		}
		for n := range 3 {
			r := records[i]
			own := 0.1
			if planned.Arm == "one" {
				own = max(0, share+sd*random.NormFloat64())
			}
			r.Workers = slices.Clone(r.Workers)
			for w := range r.Workers {
				result := *r.Workers[w].Result
				result.Profile = synthetic.Profile([]synthetic.Stack{
					{Functions: []string{"runtime.gcBgMarkWorker"}, CPU: time.Duration(own * 1e10)}, {Functions: []string{"main.main"}, CPU: time.Duration((1 - own) * 1e10)},
				})
				r.Workers[w].Result = &result
			}
			if n == 0 {
				records[i] = r
				continue
			}
			r.Trial.ID, r.Trial.Block = fmt.Sprintf("%s-%d", planned.ID, n), planned.Block+n
			trials, records = append(trials, r.Trial), append(records, r)
		}
	}
	h.Study.Claims = []record.Claim{{Title: "It is so", Parts: []record.ClaimPart{part}}}
	return find(t, h, trials, records).Claims[0]
}

func TestClaimsOfAProfile(t *testing.T) {
	const collector, function = "garbage collection", "runtime.gcBgMarkWorker"
	for name, c := range map[string]struct {
		part record.ClaimPart
		want claim.State
	}{
		"above a fifth":          {record.ClaimPart{Profile: collector, Is: record.Above, Of: 0.2}, claim.Holds},
		"of a function":          {record.ClaimPart{Profile: function, Is: record.Above, Of: 0.2}, claim.Holds},
		"below a fifth":          {record.ClaimPart{Profile: collector, Is: record.Below, Of: 0.2}, claim.DoesNotHold},
		"higher than two's":      {record.ClaimPart{Profile: collector, Is: record.Higher, Base: "two"}, claim.Holds},
		"lower than two's":       {record.ClaimPart{Profile: collector, Is: record.Lower, Base: "two"}, claim.DoesNotHold},
		"of a function not seen": {record.ClaimPart{Profile: "runtime.netpoll", Is: record.Above, Of: 0.2}, claim.DoesNotHold},
		"elsewhere":              {record.ClaimPart{Profile: collector, Is: record.Higher, From: map[string]string{"connections": "7"}}, claim.Undecided},
	} {
		c.part.End, c.part.Arms = "server", []string{"one"}
		got := profiled(t, 1, 0.3, 0.01, c.part)
		if got.State != c.want || got.State != claim.Undecided && !strings.Contains(got.Sentence, "3 probes") {
			t.Errorf("%s: %s, want %s: %s", name, got.State, c.want, got.Sentence)
		}
	}
}

// Of false claims at the very edge, at most one in twenty and some is said to hold, also
// from three probes.
func TestClaimsOfAProfileErrAsRarelyAsTheySay(t *testing.T) {
	runs, most := atTheEdge(40, 300, 0.025)
	wrong := 0
	for seed := range uint64(runs) {
		if profiled(t, seed+1, 0.2, 0.02, record.ClaimPart{Profile: "garbage collection", End: "server", Is: record.Above, Of: 0.2, Arms: []string{"one"}}).State == claim.Holds {
			wrong++
		}
	}
	if wrong > most {
		t.Errorf("%d of %d claims at the edge hold", wrong, runs)
	}
}

func TestClaimsOfACoefficient(t *testing.T) {
	of := func(coefficient float64, spec record.ClaimPart) claim.Claim {
		o := synthetic.Options{Bare: true, Connections: []int{1, 100, 1000}, SD: 0.01, Blocks: 8, Seed: 1, Primary: []string{rate}, Memory: func(levels map[string]string) float64 {
			var n, buffer float64
			_, _ = fmt.Sscan(levels["connections"], &n) // a number, or 0
			_, _ = fmt.Sscan(levels["opt.buffer"], &buffer)
			return 16<<20 + n*(8192+coefficient*buffer)
		}}
		for _, buffer := range []string{"32768", "131072"} {
			o.Arms = append(o.Arms, synthetic.Arm{Name: "b" + buffer, Levels: map[string]string{"opt.buffer": buffer}})
		}
		h, trials, records := synthetic.Run(o)
		h.Study.Fits = []record.Fit{{Title: "memory", Metric: idleRSS, Per: "connections", Terms: []string{"opt.buffer"}}}
		spec.Fit, spec.Term = "memory", "opt.buffer"
		h.Study.Claims = []record.Claim{{Title: "It is so", Source: "they", Parts: []record.ClaimPart{spec}}}
		return find(t, h, trials, records).Claims[0]
	}
	for truth, want := range map[float64]claim.Outcome{2: claim.StillHolds, 1: claim.NoLongerHolds} {
		got := of(truth, record.ClaimPart{Is: record.Near, Of: 2, Margin: 0.25})
		if got.Outcome != want || !strings.Contains(got.Sentence, `the coefficient of opt.buffer in "memory"`) {
			t.Errorf("of %v: %s, want %s: %s", truth, got.Outcome, want, got.Sentence)
		}
	}
}
