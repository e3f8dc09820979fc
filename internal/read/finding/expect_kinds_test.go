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
	"netdyno/internal/read/expect"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// A figure of an arm's own, without a base, is judged by its interval over blocks.
func TestStatementsOfAFigure(t *testing.T) {
	for that, want := range map[string]expect.State{
		">= 8MiB": expect.Holds, ">= 32MiB": expect.DoesNotHold, "<= 32MiB": expect.Holds, "= 16MiB ± 10 %": expect.Holds, "= 12MiB ± 10 %": expect.DoesNotHold,
		">= 1B at connections=7": expect.NotTestable, ">= 16MiB": expect.Undecided,
	} {
		h, trials, records := synthetic.Run(synthetic.Options{
			Bare: true, Connections: []int{1, 4}, SD: 0.01, Blocks: 8, Primary: []string{rate}, Arms: []synthetic.Arm{{Name: "one"}, {Name: "two"}},
			Memory: func(map[string]string) float64 { return 16 << 20 },
		})
		h.Study.Expect = []record.Expectation{{That: []string{"server.idle_rss of one " + that}}}
		got := find(t, h, trials, records).Expect[0]
		if got.State != want || len(got.Evidence) > 0 && (got.Evidence[0].Form != expect.Figure || !strings.Contains(got.Figure, "B")) {
			t.Errorf("%s: %s, want %s: %s", that, got.State, want, got.Ground)
		}
	}
}

// The link is a base: a goodput is divided by the rate that it is declared to have. Where
// no rate is known the statement says where it can be tested.
func TestStatementsOfTheLink(t *testing.T) {
	for rateOfLink, want := range map[string]expect.State{"8Mbit/s": expect.DoesNotHold, "max": expect.NotTestable} {
		h, trials, records := synthetic.Run(synthetic.Options{Bare: true, Connections: []int{1}, SD: 0.01, Blocks: 8, Primary: []string{metric.Goodput}, Arms: []synthetic.Arm{{Name: "one"}, {Name: "two"}}})
		for i := range records {
			trials[i].Levels["link.rate"] = rateOfLink
			records[i].Trial.Levels = trials[i].Levels
		}
		h.Study.Expect = []record.Expectation{{That: []string{"goodput of one = 0.000001 × link ± 10 %"}}}
		f := find(t, h, trials, records)
		got := f.Expect[0]
		if got.State != want {
			t.Errorf("at %s: %s, want %s: %s", rateOfLink, got.State, want, got.Ground)
		}
		if want == expect.NotTestable {
			if !strings.Contains(got.Ground, "no link of a known rate") || !strings.Contains(got.Elsewhere, "netdyno run") {
				t.Errorf("%s / %s", got.Ground, got.Elsewhere)
			}
			continue
		}
		goodput := 0.0
		for _, m := range f.Cells[0].Arms[0].Metrics {
			if m.Metric == metric.Goodput {
				goodput = m.Value
			}
		}
		if e := got.Evidence[0]; math.Abs(e.Value-goodput/1e6) > 1e-9*e.Value || goodput == 0 {
			t.Errorf("%v of the link, want %v ÷ 1 MB/s", e.Value, goodput)
		}
	}
}

// A base may be measured in another cell: the blocks pair the two.
func TestStatementsAcrossCells(t *testing.T) {
	const that = "exchanges_per_s of read at connections=4 = 0.8016 × read ± 5 % at connections=16"
	if got := expected(t, 8, 0.004, planted, that); got.State != expect.Holds || len(got.Evidence) != 1 || got.Evidence[0].Blocks != 8 {
		t.Errorf("%s: %+v", got.Ground, got.Evidence)
	}
	if got := expected(t, 8, 0.004, planted, "exchanges_per_s of read at connections=16 = read ± 5 % at connections=16"); got.State != expect.Holds || got.Evidence[0].Value != 1 {
		t.Errorf("a cell divided by itself: %s", got.Ground)
	}
}

// profiled judges a statement of a study with three probes of each arm, in which the collector
// takes a share of the server's CPU time: of arm one, drawn for each probe, and of the
// other a tenth.
func profiled(t *testing.T, seed uint64, share, sd float64, that string) expect.Result {
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
	h.Study.Expect = []record.Expectation{{That: []string{that}}}
	return find(t, h, trials, records).Expect[0]
}

func TestStatementsOfAProfile(t *testing.T) {
	const collector = "server.profile(garbage collection) of one "
	for that, want := range map[string]expect.State{
		collector + ">= 20 %": expect.Holds, "server.profile(runtime.gcBgMarkWorker) of one >= 20 %": expect.Holds, collector + "<= 20 %": expect.DoesNotHold,
		collector + "> two": expect.Holds, collector + "< two": expect.DoesNotHold, "server.profile(runtime.netpoll) of one >= 20 %": expect.DoesNotHold,
		collector + "at connections=1 > one at connections=7": expect.NotTestable,
	} {
		got := profiled(t, 1, 0.3, 0.01, that)
		if got.State != want || want != expect.NotTestable && !strings.Contains(got.Ground, "3 probes") {
			t.Errorf("%s: %s, want %s: %s", that, got.State, want, got.Ground)
		}
	}
}

// Of false statements at the very edge, at most one in twenty and some is said to hold,
// also from three probes.
func TestStatementsOfAProfileErrAsRarelyAsTheySay(t *testing.T) {
	runs, most := atTheEdge(40, 300, 0.025)
	wrong := 0
	for seed := range uint64(runs) {
		if profiled(t, seed+1, 0.2, 0.02, "server.profile(garbage collection) of one >= 20 %").State == expect.Holds {
			wrong++
		}
	}
	if wrong > most {
		t.Errorf("%d of %d statements at the edge hold", wrong, runs)
	}
}

func TestStatementsOfAGrowth(t *testing.T) {
	of := func(coefficient float64, levels ...string) expect.Result {
		o := synthetic.Options{Bare: true, Connections: []int{1, 100, 1000}, SD: 0.01, Blocks: 8, Seed: 1, Primary: []string{rate}, Memory: func(levels map[string]string) float64 {
			var n, buffer float64
			_, _ = fmt.Sscan(levels["connections"], &n) // a number, or 0
			_, _ = fmt.Sscan(levels["opt.buffer"], &buffer)
			return 16<<20 + n*(8192+coefficient*buffer)
		}}
		for _, buffer := range levels {
			o.Arms = append(o.Arms, synthetic.Arm{Name: "b" + buffer, Levels: map[string]string{"opt.buffer": buffer}})
		}
		h, trials, records := synthetic.Run(o)
		h.Study.Expect = []record.Expectation{{That: []string{"server.idle_rss per connections = 2 × opt.buffer ± 25 %"}}}
		return find(t, h, trials, records).Expect[0]
	}
	for truth, want := range map[float64]expect.State{2: expect.Holds, 1: expect.DoesNotHold} {
		if got := of(truth, "32768", "131072"); got.State != want || !strings.Contains(got.Figure, "coefficient of opt.buffer") {
			t.Errorf("of %v: %s, want %s: %s", truth, got.State, want, got.Ground)
		}
	}
	for _, levels := range [][]string{{"32768"}, {"small", "large"}} {
		if got := of(2, levels...); got.State == expect.Holds || !strings.Contains(got.Ground, "opt.buffer") {
			t.Errorf("of levels %q: %s: %s", levels, got.State, got.Ground)
		}
	}
}

// Both coefficients of a growth come from the same fit, whatever the other is.
func TestAGrowthOfTwoTerms(t *testing.T) {
	o := buffers(2, 0.5)
	o.Seed, o.BlockSD = 4, 0.01
	h, trials, records := synthetic.Run(o)
	h.Study.Expect = []record.Expectation{{That: []string{"server.idle_rss per connections = 2 × opt.server.write_buffer + 1 × opt.server.read_buffer ± 25 %"}}}
	got := find(t, h, trials, records).Expect[0]
	if got.State != expect.DoesNotHold || len(got.Evidence) != 2 {
		t.Fatalf("%s: %+v", got.State, got.Evidence)
	}
	for i, want := range []float64{2, 0.5} {
		if e := got.Evidence[i]; e.Low > want || want > e.High || e.Blocks != 8 || (e.State == expect.Holds) != (i == 0) {
			t.Errorf("coefficient %d: %+v, want %v", i, e, want)
		}
	}
}

// What start-up changes is a ratio of trials with a fixed amount divided by that of trials
// with a window, which differ in all that ends a trial.
func TestStartUpIsARatioAgainstAWindow(t *testing.T) {
	h, trials, records := synthetic.Run(synthetic.Options{
		Bare: true, Connections: []int{1, 4}, SD: 0.01, BlockSD: 0.3, Blocks: 8, Primary: []string{rate}, Arms: []synthetic.Arm{{Name: "none"}, {Name: "write"}},
	})
	for i := range trials { // the cells' connections stand for what ends a trial
		amount, share := "0", 0.8
		if trials[i].Levels["connections"] == "4" {
			amount, share = "100", 0.4
		}
		if trials[i].Arm == "write" {
			for j := range records[i].Workers {
				scale(&records[i].Workers[j], share)
			}
		}
		trials[i].Levels["amount"], trials[i].Levels["window"] = amount, amount
		delete(trials[i].Levels, "connections")
		records[i].Trial = trials[i]
	}
	h.Study.Vary = append(h.Study.Vary, record.Factor{Name: "window", Levels: []string{"0", "100"}}, record.Factor{Name: "amount", Levels: []string{"0", "100"}})
	h.Study.Expect = []record.Expectation{{That: []string{"exchanges_per_s of write = 0.5 × none ± 10 % at amount=100 against amount=0"}}}
	if got := find(t, h, trials, records).Expect[0]; got.State != expect.Holds || len(got.Evidence) != 1 {
		t.Errorf("%s: %+v", got.Ground, got.Evidence)
	}
}
