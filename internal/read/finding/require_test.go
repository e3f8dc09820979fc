package finding_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/expect"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

func TestRequirements(t *testing.T) {
	const response = "response_p99_us"
	h, trials, records := withLooks(synthetic.Options{Arms: apart, SD: 0.01, Seed: 1}, 10)
	h.Study.OwnLooks = nil
	// The baseline needs 12 µs, b half as much again.
	h.Study.Requires = []record.Require{
		{Metric: serverCPU, Arm: "b", Base: "a", Bound: 2},
		{Metric: serverCPU, Arm: "b", Base: "a", Bound: 1.2},
		{Metric: serverCPU, Arm: "b", Base: "a", Bound: 1.5},
		{Metric: serverCPU, Arm: "b", Base: "a", Bound: 1.2, AtLeast: true},
		{Metric: serverCPU, Arm: "a", Bound: 20},
		{Metric: serverCPU, Arm: "a", Bound: 5},
		{Metric: serverCPU, Arm: "a", Bound: 20, Where: map[string]string{"connections": "51"}},
		{Metric: "work_s", Arm: "a", Bound: 20},
		{Metric: response, Arm: "a", Bound: math.NaN()}, // of a damaged header
	}
	f := find(t, h, trials, records)
	want := []compare.State{compare.Met, compare.Broken, compare.Undecided, compare.Met, compare.Met, compare.Broken, compare.Undecided}
	if len(f.Requirements) != len(want) {
		t.Fatalf("%d requirements, want %d: one is of another cell, one has no bound", len(f.Requirements), len(want))
	}
	for i, r := range f.Requirements {
		if r.State != want[i] || (r.Reason != "") != (r.State == compare.Undecided) || r.Cell != "connections=50" || r.Family != 6 {
			t.Errorf("%d: %s, %q, %.4g (%.4g–%.4g), family %d; want %s", i, r.State, r.Reason, r.Value, r.Low, r.High, r.Family, want[i])
		}
		if said := f.Expect[i]; !said.Must || (said.State == expect.Holds) != (r.State == compare.Met) || (said.State == expect.DoesNotHold) != (r.State == compare.Broken) || said.Figure == "" {
			t.Errorf("%d: %s, and the table of statements says %s: %q", i, r.State, said.State, said.Figure)
		}
	}
	if r := f.Requirements[1]; math.Abs(r.Value-1.5) > 0.02 || r.Low > 1.5 || r.High < 1.5 || r.Blocks != 10 {
		t.Errorf("a ratio of 1.5 is read as %.4g (%.4g–%.4g) of %d blocks", r.Value, r.Low, r.High, r.Blocks)
	}
	if r := f.Requirements[4]; math.Abs(r.Value-12) > 0.3 || r.Low > 12.1 || r.High < 11.9 {
		t.Errorf("12 µs are read as %.4g (%.4g–%.4g)", r.Value, r.Low, r.High)
	}
}

// A gate needs every requirement met; few blocks can prove none.
func TestRequirementsAtAGate(t *testing.T) {
	met := record.Require{Metric: serverCPU, Arm: "b", Base: "a", Bound: 2}
	broken := record.Require{Metric: serverCPU, Arm: "b", Base: "a", Bound: 1.2}
	open := record.Require{Metric: "work_s", Arm: "a", Bound: 20}
	for name, c := range map[string]struct {
		arms     []synthetic.Arm
		requires []record.Require
		blocks   int
		want     compare.GateResult
	}{
		"met":                    {[]synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 0.9}}, []record.Require{met}, 8, compare.NoWorse},
		"met, and worse":         {apart, []record.Require{met}, 8, compare.IsWorse},
		"broken":                 {[]synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 0.9}}, []record.Require{met, {Metric: serverCPU, Arm: "a", Bound: 5}}, 8, compare.IsWorse},
		"open":                   {[]synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 0.9}}, []record.Require{met, open}, 8, compare.Unproven},
		"too few blocks":         {[]synthetic.Arm{{Name: "a"}, {Name: "b", Cost: 0.9}}, []record.Require{met}, 5, compare.Unproven},
		"one arm, nothing else":  {apart[:1], []record.Require{{Metric: serverCPU, Arm: "a", Bound: 20}}, 8, compare.NoWorse},
		"one arm, nothing asked": {apart[:1], nil, 8, compare.Unproven},
		"broken and worse":       {apart, []record.Require{broken}, 8, compare.IsWorse},
	} {
		h, trials, records := withLooks(synthetic.Options{Arms: c.arms, SD: 0.01, Seed: 1}, c.blocks)
		trials = slices.DeleteFunc(trials, func(t record.Trial) bool { return t.Block > c.blocks })
		h.Study.OwnLooks, h.Study.Requires = nil, c.requires
		f := find(t, h, trials, records)
		if got, _ := compare.Gate(f.Run); got != c.want {
			t.Errorf("%s: %v, want %v; %+v", name, got, c.want, f.Requirements)
		}
	}
}

// A share of errors is mostly 0, which a bound must be held against as well; one
// bad block is not drowned in the others' zeros.
func TestRequirementsOnFiguresOfZero(t *testing.T) {
	bound := record.Require{Metric: "error_share", Arm: "a", Bound: 0.01}
	for name, c := range map[string]struct {
		failing map[int]float64 // share of a block's exchanges
		blocks  int
		want    compare.State
		says    string
	}{
		"none":           {nil, 8, compare.Met, ""},
		"few blocks":     {nil, 5, compare.Undecided, "5 blocks are too few: at least 6 are needed"},
		"some":           {map[int]float64{3: 0.003, 5: 0.002}, 8, compare.Met, ""},
		"one bad block":  {map[int]float64{3: 0.05}, 8, compare.Undecided, "the interval contains the bound"},
		"all but one":    {map[int]float64{1: 0.05, 2: 0.05, 3: 0.05, 4: 0.04, 5: 0.05, 6: 0.05, 7: 0.06}, 8, compare.Broken, ""},
		"everywhere bad": {map[int]float64{1: 0.05, 2: 0.05, 3: 0.05, 4: 0.04, 5: 0.05, 6: 0.05, 7: 0.06, 8: 0.05}, 8, compare.Broken, ""},
	} {
		h, trials, records := synthetic.Run(synthetic.Options{
			Arms: apart[:1], Connections: []int{50}, Rate: 20000, Blocks: c.blocks, Bare: true, Primary: []string{serverCPU},
		})
		h.Study.Requires = []record.Require{bound}
		failed, ended := 0.0, 0.0 // by exchange that completed
		for i := range records {
			share := c.failing[records[i].Trial.Block]
			failed, ended = failed+share/(1-share), ended+1/(1-share)
			fail(&records[i], share)
		}
		r := find(t, h, trials, records).Requirements[0]
		if r.State != c.want || !strings.Contains(r.Reason, c.says) || r.Blocks != c.blocks || r.Low < 0 {
			t.Errorf("%s: %s, %q, %d blocks, from %v; want %s, %q", name, r.State, r.Reason, r.Blocks, r.Low, c.want, c.says)
		}
		if math.Abs(r.Value-failed/ended) > 1e-4 {
			t.Errorf("%s: %v of all is read as %v", name, failed/ended, r.Value)
		}
	}
}

// A gate does not open over exchanges that failed: the other figures are of the
// trials in which none did. A bound on them that is met lets them pass.
func TestFailedExchangesAtAGate(t *testing.T) {
	bounds := map[string]record.Require{
		"cost":   {Metric: serverCPU, Arm: "a", Bound: 20},
		"errors": {Metric: "error_share", Arm: "a", Bound: 0.01},
	}
	for name, c := range map[string]struct {
		failing float64 // share of the exchanges of block 3
		bounds  []string
		want    compare.GateResult
		doubts  int
	}{
		"none":              {0, []string{"cost"}, compare.NoWorse, 0},
		"not asked about":   {0.002, []string{"cost"}, compare.Unproven, 1},
		"within the bound":  {0.002, []string{"cost", "errors"}, compare.NoWorse, 0},
		"beyond it in one":  {0.2, []string{"cost", "errors"}, compare.Unproven, 1},
		"none, asked about": {0, []string{"cost", "errors"}, compare.NoWorse, 0},
	} {
		h, trials, records := synthetic.Run(synthetic.Options{Arms: apart[:1], Connections: []int{50}, Rate: 20000, Blocks: 8, Bare: true})
		for _, bound := range c.bounds {
			h.Study.Requires = append(h.Study.Requires, bounds[bound])
		}
		for i := range records {
			if records[i].Trial.Block == 3 {
				fail(&records[i], c.failing)
			}
		}
		f := find(t, h, trials, records)
		if got, _ := compare.Gate(f.Run); got != c.want || len(compare.Caveats(f.Run)) != c.doubts {
			t.Errorf("%s: %v, in doubt %q; want %v, %d", name, got, compare.Caveats(f.Run), c.want, c.doubts)
		}
	}
}

// fail lets a share of a trial's exchanges fail.
func fail(r *record.Record, share float64) {
	for i := range r.Workers {
		if w := &r.Workers[i]; w.Role == contract.Client && share > 0 {
			failed := int64(math.Round(share / (1 - share) * float64(w.Result.Counts.Exchanges)))
			w.Result.Counts.Errors = map[contract.ErrorKind]int64{contract.Timeout: failed}
		}
	}
}
