package finding

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/read/capacity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/synthetic"
	"netdyno/internal/record"
)

// pretended is an arm that answers well up to a rate and dies above it.
type pretended struct {
	name    string
	carries float64
}

// searched carries a search out as a run does, with records that nobody measured.
func searched(t *testing.T, arms ...pretended) Findings {
	t.Helper()
	const blocks = 40
	header := record.Header{Study: record.Study{
		Name: "search", Blocks: blocks, Compare: record.Compare{Factor: "transport", Baseline: arms[0].name, Primary: []string{"response_p99_us"}},
		Vary:     []record.Factor{{Name: "transport"}},
		Capacity: &record.Capacity{Objective: []record.Bound{{Text: "response_p99 <= 5ms", Metric: "response_p99_us", Value: 5000}}, Within: 0.1, TimeS: 200},
	}}
	var plan []record.Trial
	for block := 1; block <= blocks; block++ {
		for i, a := range arms {
			plan = append(plan, record.Trial{
				ID: fmt.Sprintf("b%02d-%03d", block, i+1), Block: block, Order: len(plan), Arm: a.name,
				Levels: map[string]string{"transport": a.name, "rate": "max", "window": "2s", "warmup": "500ms", "connections": "50"},
			})
		}
	}
	for _, a := range arms {
		header.Study.Vary[0].Levels = append(header.Study.Vary[0].Levels, a.name)
	}
	var records []record.Record
	for block := 1; block <= blocks; block++ {
		s, err := cells.Read(header, record.Allocated(plan, header.Allocations), records)
		if err != nil {
			t.Fatal(err)
		}
		decided, _ := capacity.Next(s, block)
		header.Allocations = append(header.Allocations, decided)
		if decided.Ended {
			break
		}
		for _, trial := range record.Allocated(plan, header.Allocations) {
			if trial.Block == block {
				for _, a := range arms {
					if a.name == trial.Arm {
						records = append(records, a.record(t, trial))
					}
				}
			}
		}
	}
	f, err := Find(header, record.Allocated(plan, header.Allocations), records)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// record is what a trial of the arm leaves.
func (a pretended) record(t *testing.T, trial record.Trial) record.Record {
	t.Helper()
	o := synthetic.Options{Arms: []synthetic.Arm{{Name: a.name}}, Connections: []int{50}, Blocks: 1, Seed: uint64(trial.Order) + 1}
	o.Window, _ = time.ParseDuration(trial.Levels["window"])
	if rate := trial.Levels["rate"]; rate != "max" {
		o.Rate, _ = strconv.ParseFloat(rate, 64)
	}
	_, _, all := synthetic.Run(o)
	r := all[0]
	r.Trial = trial
	if o.Rate > a.carries {
		r.Outcome, r.Failure = record.Failed, &record.Failure{Kind: contract.Timeout, Text: "it no longer answers"}
	}
	return r
}

func TestACapacityIsFoundAndSaid(t *testing.T) {
	probe := searched(t, pretended{name: "probe", carries: 1e12})
	flat := probe.Capacity.Arms[0].ClosedS
	f := searched(t, pretended{name: "base", carries: 0.5 * flat}, pretended{name: "fast", carries: 0.8 * flat})
	if len(f.Capacity.Arms) != 2 || len(f.Comparisons) > 0 || len(f.Capacity.Ratios) != 1 {
		t.Fatalf("%d arms, %d comparisons, %d ratios", len(f.Capacity.Arms), len(f.Comparisons), len(f.Capacity.Ratios))
	}
	for i, want := range []float64{0.5 * flat, 0.8 * flat} {
		a := f.Capacity.Arms[i]
		if a.Rate == nil || a.Rate.Low > want || a.Rate.High < want || a.Rate.Value < a.Rate.Low || a.Rate.Value > a.Rate.High || a.Wide {
			t.Errorf("%s: %+v %s; want %g in an interval of 10 %%", a.Arm, a.Rate, a.Why, want)
		}
	}
	if r := f.Capacity.Ratios[0]; r.Low > 1.6 || r.High < 1.6 {
		t.Errorf("ratio %+v, want 1.6", r)
	}
	said := strings.Join(f.Answer.Sentences, "\n")
	for _, want := range []string{"base carries ", " exchanges a second (", ", 95 %) at response_p99 <= 5ms", "fast carries 1.", "× as much as base"} {
		if !strings.Contains(said, want) {
			t.Errorf("%q is not said:\n%s", want, said)
		}
	}
	if len(f.Charts) != 1 || len(f.Charts[0].Lines) != 3 || f.Charts[0].Lines[2].Points[0].Value != 5000 {
		t.Errorf("charts %+v; want a line for each arm and the objective", f.Charts)
	}
}

func TestWhatHasNoCapacityGetsNoNumber(t *testing.T) {
	f := searched(t, pretended{name: "slow"}, pretended{name: "endless", carries: 1e12})
	said := f.Answer.Sentences
	if f.Capacity.Arms[0].Rate != nil || !strings.Contains(said[0], "slow has no capacity at response_p99 <= 5ms: no rate tried meets it: at ") || !strings.Contains(said[0], "it no longer answers") {
		t.Errorf("an objective that nothing meets: %s", said[0])
	}
	if !f.Capacity.Arms[1].AtLeast || !strings.Contains(said[1], "endless carries at least ") {
		t.Errorf("a server that never misses: %s", said[1])
	}
	if len(f.Capacity.Ratios) > 0 {
		t.Error("a ratio without two capacities")
	}
}
