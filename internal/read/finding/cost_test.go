package finding_test

import (
	"math"
	"strings"
	"testing"

	"netdyno/internal/read/finding"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// remembered runs a study of memory over connections through Find with one cost, whose
// truth is 9 MB + n·(40 kB + 2·write + read).
func remembered(t *testing.T, heldOut []string, memory func(levels map[string]string) float64) finding.Findings {
	t.Helper()
	o := buffers(2, 1)
	o.Arms, o.Connections, o.Seed = o.Arms[:2], []int{1, 10, 30, 100, 300, 600, 1000}, 3
	if memory != nil {
		o.Memory = memory
	}
	h, trials, records := synthetic.Run(o)
	h.Study.Costs = []record.Cost{{Title: "memory", Metric: idleRSS, Per: "connections", Terms: []string{readBuffer}, Holdout: map[string][]string{"connections": heldOut}}}
	f := find(t, h, trials, records)
	if len(f.Costs) != 1 || f.Costs[0].Reason != "" || len(f.Costs[0].Models) != 2 {
		t.Fatalf("%+v", f.Costs)
	}
	return f
}

// Each arm has its own model, held to the cells that it has not seen.
func TestCostsAreModelledForEachArm(t *testing.T) {
	f := remembered(t, []string{"10", "100", "600"}, nil)
	for i, perConnection := range []float64{40e3, 40e3 + 32<<10} { // no buffers, and one of 32 KiB to read
		m := f.Costs[0].Models[i]
		if m.Reason != "" || len(m.Coefficients) != 2 || m.Fitted != 4 || len(m.HeldOut) != 3 {
			t.Fatalf("%+v", m)
		}
		if c := m.Coefficients[1]; c.Of != "connections" || math.Abs(c.Value-perConnection) > c.High-c.Low {
			t.Errorf("%s: %+v, planted %v a connection", m.Arm, c, perConnection)
		}
		for _, part := range []string{m.Arm + ": server idle RSS is 8.", " MiB + ", " KiB per connection; 3 cells that it has not seen are missed by ", "most at connections="} {
			if !strings.Contains(m.Sentence, part) {
				t.Errorf("%q has no %q", m.Sentence, part)
			}
		}
	}
	if got := f.Answer.Sentence; !strings.HasPrefix(got, "2 of 2 models predict the cells that they have not seen") {
		t.Error(got)
	}
}

// A cost that is no line is refused, and warned of; nothing is said of its figures.
func TestACostThatIsNoLineIsRefused(t *testing.T) {
	f := remembered(t, []string{"10", "100", "600"}, func(levels map[string]string) float64 {
		return map[string]float64{"1": 1e7, "10": 9e7, "30": 1e7, "100": 9e7, "300": 1e7, "600": 9e7, "1000": 1e7}[levels["connections"]]
	})
	warned := 0
	for _, w := range f.Warnings {
		if w.About == "cost" {
			warned++
		}
	}
	if !strings.HasPrefix(f.Answer.Sentence, "0 of 2 models predict") || warned != 2 || !strings.Contains(f.Costs[0].Models[0].Sentence, "has no model of server idle RSS: ") {
		t.Errorf("%d warnings; %s; %s", warned, f.Answer.Sentence, f.Costs[0].Models[0].Sentence)
	}
}
