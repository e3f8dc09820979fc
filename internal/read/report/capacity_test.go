package report

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"netdyno/internal/quantity"
	"netdyno/internal/read/capacity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
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
	tries := []capacity.Try{{ID: "b02-001", Block: 2, Rate: 900, Met: true, Value: 2500, Window: 1}, {ID: "b03-001", Block: 3, Rate: 1200, Value: 25_000, Window: 1, Why: "response p99 25.0 ms"}}
	f := finding.Findings{
		Run: compare.Run{Header: record.Header{Study: record.Study{Name: "how-much", Blocks: 40, Capacity: &spec, Compare: record.Compare{Factor: "transport", Baseline: "base"}},
			Allocations: []record.Allocation{{Block: 4, Ended: true}}}},
		Capacity: &capacity.Capacity{Spec: spec, Baseline: "base",
			Arms: []capacity.Arm{
				{Arm: "base", Rate: &capacity.Estimate{Value: 1000, Low: 950, High: 1040}, Limit: "server-cpu", ClosedS: 1300, Tries: tries, Spread: 0.03},
				{Arm: "fast", Rate: &capacity.Estimate{Value: 2000, Low: 1900, High: 2080}},
				{Arm: "odd", Why: "its windows contradict each other"},
				{Arm: "endless", AtLeast: true, Rate: &capacity.Estimate{Value: 4000, Low: 4000, High: 4000}},
			},
			Ratios: []capacity.Ratio{{Arm: "fast", Base: "base", Estimate: capacity.Estimate{Value: 2, Low: 1.88, High: 2.13}}}},
	}
	point := func(rate, value float64) view.Point {
		return view.Point{X: view.Coordinate{Text: quantity.FormatCount(rate), Value: rate}, Figure: cells.Figure{Value: value, Low: value, High: value, N: 2}}
	}
	f.Charts = []view.Chart{{Windows: true, Spec: record.Chart{Kind: record.Lines, Metric: "response_p99_us", X: "rate"}, Lines: []view.Line{{Name: "base", Points: []view.Point{point(900, 2500), point(1200, 25_000)}}}}}
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
	for _, want := range []string{"1000 (950–1040)", "÷ base", "2.00 (1.88–2.13)", "≥ 4000", "odd: its windows contradict each other.", "server-cpu", "To carry more: give the server", "· 2 blocks"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, text.String())
		}
	}
	for _, want := range []string{`<section id="capacity">`, "b03-001", "25.0", "Each point is a window at its rate"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	chart := sectionsOf(p, "charts")[0]
	if chart.Figure == nil || strings.Contains(chart.Tables[0].Caption+chart.Figure.Lines.Lines[0].Points[0].Text, "interval") || intervalIn(chart.Tables[0].Rows[0][1]) != "" {
		t.Errorf("windows have intervals: %+v", chart)
	}
}
