package bench

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// reading is one of a standing server's, as a test writes it: exchanges so far
// and connections open now.
type reading struct{ exchanges, connections int64 }

// span is a segment as a test expects it: the exchanges between its edges and
// whether the server's end cut it short.
type span struct {
	exchanges, most int64
	cut             bool
}

func TestReadingsAreCutIntoSegments(t *testing.T) {
	for _, c := range []struct {
		name     string
		readings []reading
		want     []span
	}{
		{"nobody comes", []reading{{0, 0}, {0, 0}}, nil},
		{"one trial", []reading{{0, 0}, {10, 2}, {30, 2}, {35, 0}, {35, 0}}, []span{{35, 2, false}}},
		{"two trials", []reading{{0, 0}, {10, 2}, {12, 0}, {12, 0}, {20, 3}, {21, 0}, {21, 0}}, []span{{12, 2, false}, {9, 3, false}}},
		{"a trial between two readings", []reading{{0, 0}, {7, 0}, {7, 0}}, []span{{7, 0, false}}},
		{"connections for one exchange each", []reading{{0, 0}, {5, 1}, {9, 0}, {15, 1}, {20, 0}, {20, 0}}, []span{{20, 1, false}}},
		{"silent connections", []reading{{0, 0}, {0, 4}, {0, 4}, {0, 0}}, []span{{0, 4, false}}},
		{"ends while driven", []reading{{0, 0}, {5, 1}, {9, 1}}, []span{{9, 1, true}}},
		{"ends just after", []reading{{0, 0}, {5, 1}, {9, 0}}, []span{{9, 1, false}}},
		{"driven from the first reading", []reading{{3, 1}, {9, 1}, {9, 0}}, []span{{6, 1, false}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			var cut segmenter
			var got []span
			note := func(p *endedSegment) {
				if p == nil {
					return
				}
				if p.Number != len(got)+1 {
					t.Errorf("segment %d is numbered %d", len(got)+1, p.Number)
				}
				got = append(got, span{p.to.Reading.Counts.Exchanges - p.from.Reading.Counts.Exchanges, p.Connections, p.CutShort != ""})
			}
			for _, r := range c.readings {
				note(cut.takeEdge(edge(r)))
			}
			note(cut.cut())
			if len(got) != len(c.want) {
				t.Fatalf("segments %v, want %v", got, c.want)
			}
			for i := range got {
				if got[i] != c.want[i] {
					t.Errorf("segment %d is %v, want %v", i+1, got[i], c.want[i])
				}
			}
		})
	}
}

// The rate of a segment is taken where the load ran throughout: neither what was
// connecting nor the reading in whose time it ended.
func TestASegmentsRateIsOfItsLoadAlone(t *testing.T) {
	var cut segmenter
	var over *endedSegment
	for _, r := range []reading{{0, 0}, {4, 4}, {4, 4}, {54, 4}, {154, 4}, {254, 4}, {260, 4}, {260, 4}, {260, 0}} {
		if p := cut.takeEdge(edge(r)); p != nil {
			over = p
		}
	}
	if over == nil {
		t.Fatal("the segment has not ended")
	}
	if first, last := over.First.Reading.Counts.Exchanges, over.Last.Reading.Counts.Exchanges; first != 54 || last != 254 {
		t.Errorf("the load runs from %d to %d exchanges, want from 54 to 254", first, last)
	}
}

func edge(r reading) record.Edge {
	return record.Edge{Reading: contract.Reading{Counts: contract.Counts{Exchanges: r.exchanges, Connections: r.connections}}}
}
