package report

import (
	"bytes"
	"strings"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/part"
	"netdyno/internal/record"
)

// serverReport is what a server says of two segments, one of which is an arm's.
func serverReport() *finding.ServerReport {
	values := map[string]float64{"segment.exchanges_per_s": 12_000, "segment.cpu_us_per_exchange": 20.5}
	return &finding.ServerReport{
		Server: "go-http1", Listen: []string{"10.0.0.1:8080"},
		Arms: []finding.ServerArm{{Arm: "go-http1", Segments: 1, Exchanges: 60_000, Metrics: []cells.Summary{
			{Metric: "segment.exchanges_per_s", Unit: "1/s", Figure: cells.Figure{N: 1, Value: 12_000}},
			{Metric: "segment.cpu_us_per_exchange", Unit: "µs", Figure: cells.Figure{N: 2, Value: 20.5, Low: 20, High: 21}},
		}}},
		Segments: []finding.ServerSegment{
			{Number: 1, Trials: []string{"b01-001"}, Arm: "go-http1", Connections: 8, Exchanges: 60_000, Values: values},
			{Number: 2, Connections: 1, Exchanges: 3, CutShort: "the server ended while it was driven"},
		},
	}
}

func TestTheServersOwnCountsStandInEveryForm(t *testing.T) {
	page := New(finding.Findings{ServerReport: serverReport()})
	for form, render := range map[string]func(*bytes.Buffer) error{
		"text":     func(b *bytes.Buffer) error { return page.Text(b, TextOptions{}) },
		"Markdown": func(b *bytes.Buffer) error { return page.Markdown(b) },
		"HTML":     func(b *bytes.Buffer) error { return page.HTML(b) },
	} {
		var b bytes.Buffer
		if err := render(&b); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"The server, as it counted itself", "10.0.0.1:8080", "12.0", "20.5", "60000"} {
			if !strings.Contains(b.String(), want) {
				t.Errorf("the %s has no %q", form, want)
			}
		}
	}
}

func TestSegmentsWithoutFiguresHaveNone(t *testing.T) {
	l := newLayout(finding.Findings{ServerReport: serverReport()})
	tables := l.server().Tables
	if arms, segments := tables[0], tables[1]; len(arms.Rows) != 1 || len(segments.Rows) != 2 || !segments.Folded {
		t.Fatalf("%d arms and %d segments, want 1 and 2, the segments folded", len(arms.Rows), len(segments.Rows))
	}
	last := tables[1].Rows[1]
	if last[0].Detail == "" || last[1].Text != "–" || shown(last[len(last)-1]) != part.None {
		t.Errorf("the segment that matches nothing reads %+v", last)
	}
	if section := newLayout(finding.Findings{}).server(); section != nil {
		t.Errorf("without a report there is a section %+v", section)
	}
}

// The report alone is titled by what listened where.
func TestTheServersReportAloneHasItsTitle(t *testing.T) {
	page := New(finding.Findings{ServerReport: serverReport(), Run: compare.Run{Header: record.Header{Listen: []string{"10.0.0.1:8080"}}}})
	if page.Title != "go-http1 on 10.0.0.1:8080" || page.Tally != "driven 2 times" {
		t.Errorf("titled %q, %q", page.Title, page.Tally)
	}
}
