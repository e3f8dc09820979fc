package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/search"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// sectionsOf are those of a page's part; none where it has no such part.
func sectionsOf(p Page, id string) []part.Section {
	for _, a := range p.Parts {
		if a.ID == id {
			return a.Sections
		}
	}
	return nil
}

func TestACapacityIsLaidOut(t *testing.T) {
	spec := record.Capacity{Objective: []record.Bound{{Text: "response_p99 <= 10ms", Metric: "response_p99_us", Value: 10_000}}, Within: 0.1, TimeS: 60}
	tries := []search.Try{{ID: "b02-001", Block: 2, Rate: 900, Met: true, Value: 2500, Window: 1}, {ID: "b03-001", Block: 3, Rate: 1200, Value: 25_000, Window: 1, Why: "response p99 25.0 ms"}}
	figure := func(value, low, high float64) *cells.Figure {
		return &cells.Figure{Value: value, Low: low, High: high, Mean: cells.Whole, N: 20}
	}
	f := finding.Findings{
		Run: compare.Run{Header: record.Header{Study: record.Study{Name: "how-much", Blocks: 40, Capacity: &spec, Compare: record.Compare{Factor: "transport", Baseline: "base"}},
			Allocations: []record.Allocation{{Block: 4, Ended: true}}}},
		Search: &search.Search{Metric: "exchanges_per_s", Objective: spec.Objective, Baseline: "base",
			Arms: []search.Arm{
				{Arm: "base", Fate: search.Carries, Figure: figure(1000, 950, 1040), Limit: "the server's CPUs", ClosedS: 1300, Tries: tries},
				{Arm: "fast", Fate: search.Carries, Figure: figure(2000, 1900, 2080), Tries: tries, Ratio: &search.Estimate{Value: 2, Low: 1.88, High: 2.13}},
				{Arm: "odd", Fate: search.Undecided, Why: "its windows contradict each other"},
				{Arm: "endless", Fate: search.AtLeast, Figure: &cells.Figure{Value: 4000, Low: 4000, High: 4000, AtLeast: true}},
			}},
	}
	// Of 40 blocks that could have run, two did.
	for block := 2; block <= 5; block++ {
		v := &trial.Judged{Plan: record.Trial{ID: fmt.Sprintf("b%02d-001", block), Block: block, Arm: "base"}}
		if block <= 3 {
			v.Record = &record.Record{}
		}
		f.Trials = append(f.Trials, v)
	}
	var text, page bytes.Buffer
	p := New(f)
	if err := p.Text(&text, TextOptions{Width: 120}); err != nil {
		t.Fatal(err)
	}
	if err := p.HTML(&page); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"1.00 k/s (0.950–1.04)", "÷ base", "2.00 (1.88–2.13)", "≥ 4.00 k/s", "undecided", "the server's CPUs", "· 2 blocks"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	for _, want := range []string{`<section id="search">`, "Each point is a window at its rate."} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	sections := sectionsOf(p, "search")
	chart := sections[0]
	if chart.Figure == nil || len(chart.Figure.Lines.Lines) != 3 {
		t.Fatalf("a line for each arm that has windows, and the objective: %+v", chart)
	}
	if got, want := chart.Figure.Lines.Lines[0].Points[1].Text, "base, b03-001: response p99 25.0 ms at 1200/s, missed: response p99 25.0 ms"; got != want {
		t.Errorf("a window says %q, want %q", got, want)
	}
}
