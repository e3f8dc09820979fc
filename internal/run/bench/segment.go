package bench

import (
	"fmt"
	"maps"
	"time"

	"netdyno/internal/record"
)

// MaxSegments is how many segments of a standing server are kept; beyond it
// they are counted only.
const MaxSegments = 10_000

// segmenter cuts the readings of a standing server into segments: the times in
// which it was driven. The zero value is ready; one goroutine uses it.
type segmenter struct {
	latest *record.Edge    // the reading before this one
	driven *record.Segment // under way; nil while idle
	idle   record.Edge     // the last reading before it
	loaded bool            // more was exchanged in it than to verify its connections
	count  int
}

// endedSegment is a segment that is over, with its outer edges.
type endedSegment struct {
	record.Segment
	from, to record.Edge
}

// takeEdge looks at a reading and returns the segment that the reading ends, nil when it
// ends none. A segment ends when nothing is connected and nothing has moved since the
// reading before. Where connections last for one exchange a reading may find none by
// chance, so having no connections alone ends nothing.
func (c *segmenter) takeEdge(e record.Edge) *endedSegment {
	before := c.latest
	c.latest = &e
	if before == nil {
		before = &e // what was connected from the first cannot be told from what came before
	}
	if e.Reading.Counts.Connections == 0 && !moved(*before, e) {
		return c.end(e, "")
	}
	if c.driven == nil {
		c.count++
		c.driven, c.idle, c.loaded = &record.Segment{Number: c.count}, *before, false
	}
	c.driven.Connections = max(c.driven.Connections, e.Reading.Counts.Connections)
	switch {
	case !c.loaded:
		c.loaded = e.Reading.Counts.Exchanges-c.idle.Reading.Counts.Exchanges > c.driven.Connections
		c.driven.First, c.driven.Last = e, e
	case moved(*before, e):
		c.driven.Last = *before // of the time up to e, the load may have filled a part
	}
	return nil
}

// cut returns the segment that is still going on when the server ends, if one
// is; it ends at the latest reading.
func (c *segmenter) cut() *endedSegment {
	switch {
	case c.latest == nil:
		return nil
	case c.latest.Reading.Counts.Connections == 0:
		return c.end(*c.latest, "")
	}
	return c.end(*c.latest, "the server ended while it was driven")
}

func (c *segmenter) end(to record.Edge, cutShort string) *endedSegment {
	if c.driven == nil {
		return nil
	}
	p := &endedSegment{*c.driven, c.idle, to}
	p.CutShort = cutShort
	c.driven = nil
	return p
}

// moved tells whether anything was exchanged between two readings.
func moved(a, b record.Edge) bool {
	x, y := a.Reading.Counts, b.Reading.Counts
	return x.Exchanges != y.Exchanges || x.ReceivedBytes != y.ReceivedBytes || x.SentBytes != y.SentBytes || !maps.Equal(x.Errors, y.Errors)
}

// segmentRecord is the record of one segment of a trial's server.
func segmentRecord(plan record.Trial, w record.Worker, p endedSegment) record.Record {
	plan.ID, plan.Order = fmt.Sprintf("segment-%d", p.Number), p.Number
	w.Open, w.Close = &p.from, &p.to
	return record.Record{
		Schema: record.Schema, Trial: plan, Outcome: record.OK, Workers: []record.Worker{w}, Segment: &p.Segment,
		StartedAt: time.Now().Add(-time.Duration(p.to.Reading.AtNs - p.from.Reading.AtNs)).UTC(),
	}
}
