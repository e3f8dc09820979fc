package finding

import (
	"errors"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// ServerReport is what a standing server says of the times in which it was driven. It
// counted alone, by its own clocks, warm-up included. So no verdict rests on its figures,
// and none of them is divided by what a client counted.
type ServerReport struct {
	Server   string          `json:"server"` // transport
	Listen   []string        `json:"listen"`
	Arms     []ServerArm     `json:"arms,omitempty"` // by cell and arm in the study's order; those with matched segments
	Segments []ServerSegment `json:"segments"`
	Unkept   int             `json:"unkept,omitempty"` // segments that were seen and not kept, being too many
}

// ServerArm sums up the segments of one arm in one cell.
type ServerArm struct {
	Cell      string          `json:"cell"`
	Arm       string          `json:"arm"`
	Segments  int             `json:"segments"`
	Exchanges int64           `json:"exchanges"` // of all these segments
	Metrics   []cells.Summary `json:"metrics"`   // of record.SegmentMetrics, those that exist
}

// ServerSegment is one time in which the server was driven.
type ServerSegment struct {
	Number      int                `json:"number"`
	Trials      []string           `json:"trials,omitempty"` // of the client's run that drove it; none where that cannot be told
	Cell        string             `json:"cell,omitempty"`   // of these trials, with Arm; empty when they differ
	Arm         string             `json:"arm,omitempty"`
	Connections int64              `json:"connections"` // the most at once
	Exchanges   int64              `json:"exchanges"`
	Values      map[string]float64 `json:"values,omitempty"`
	CutShort    string             `json:"cut_short,omitempty"`
}

// Account reads the records that a standing server kept. It fails when the records are
// not those of such a server.
func Account(listen record.Contents) (ServerReport, error) {
	served, _, err := account(listen)
	return served, err
}

func account(listen record.Contents) (ServerReport, []record.Record, error) {
	s := ServerReport{Listen: listen.Header.Listen}
	if len(s.Listen) == 0 {
		return s, nil, errors.New("not the records of a netdyno listen: the header names no address")
	}
	var segments []record.Record
	for _, r := range listen.Records {
		if len(r.Workers) != 1 {
			continue
		}
		s.Server = r.Workers[0].Transport
		if r.Segment != nil {
			segments = append(segments, r)
		} else {
			s.Unkept = r.Segments
		}
	}
	slices.SortStableFunc(segments, func(a, b record.Record) int { return a.Segment.Number - b.Segment.Number })
	s.Unkept = max(0, s.Unkept-len(segments))
	for i := range segments {
		s.Segments = append(s.Segments, describeSegment(&segments[i]))
	}
	return s, segments, nil
}

func describeSegment(r *record.Record) ServerSegment {
	n, _ := exchangesIn(r)
	s := ServerSegment{
		Number: r.Segment.Number, Connections: r.Segment.Connections, CutShort: r.Segment.CutShort, Exchanges: n, Values: map[string]float64{},
	}
	w := record.NewWindow(r)
	for _, m := range metric.OfSegments() {
		if x, ok := m.In(w); ok {
			s.Values[m.Name] = x
		}
	}
	return s
}

// exchangesIn returns what the server counted in a segment; false when it
// cannot count.
func exchangesIn(r *record.Record) (int64, bool) {
	w := &r.Workers[0]
	span, ok := record.SpanOf(w)
	if !ok || w.Ready != nil && w.Ready.Foreign {
		return 0, false
	}
	n := span.To.Reading.Counts.Exchanges - span.From.Reading.Counts.Exchanges
	return n, n >= 0
}
