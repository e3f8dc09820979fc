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

// cutter cuts the readings of a standing server into segments: the times in
// which it was driven. The zero value is ready; one goroutine uses it.
type cutter struct {
	before *record.Edge    // the reading before this one
	begun  *record.Segment // being driven; nil while idle
	from   record.Edge     // the last idle reading before it
	count  int
}

// passed is a segment with its outer edges.
type passed struct {
	record.Segment
	from, to record.Edge
}

// take looks at a reading and returns the segment that it ends, if it ends one:
// nothing is connected and nothing has moved since the reading before. Where
// connections last for one exchange a reading may find none by chance, so that
// none are connected is not enough.
func (c *cutter) take(e record.Edge) *passed {
	before := c.before
	c.before = &e
	driven := e.Reading.Counts.Connections > 0 || before != nil && moved(*before, e)
	switch {
	case before == nil && !driven:
	case driven && c.begun == nil:
		c.count++
		c.begun, c.from = &record.Segment{Number: c.count, First: e}, e
		if before != nil {
			c.from = *before
		}
		fallthrough
	case driven:
		c.begun.Last, c.begun.Connections = e, max(c.begun.Connections, e.Reading.Counts.Connections)
	case c.begun != nil:
		return c.end(e, "")
	}
	return nil
}

// cut returns the segment that is still going on when the server ends, if one
// is; it ends at the latest reading.
func (c *cutter) cut() *passed {
	if c.begun == nil {
		return nil
	}
	return c.end(c.begun.Last, "the server ended while it was driven")
}

func (c *cutter) end(to record.Edge, cutShort string) *passed {
	p := &passed{*c.begun, c.from, to}
	p.CutShort = cutShort
	c.begun = nil
	return p
}

// moved tells whether anything was exchanged between two readings.
func moved(a, b record.Edge) bool {
	x, y := a.Reading.Counts, b.Reading.Counts
	return x.Exchanges != y.Exchanges || x.ReceivedBytes != y.ReceivedBytes || x.SentBytes != y.SentBytes || !maps.Equal(x.Errors, y.Errors)
}

// segmentRecord is the record of one segment of a trial's server.
func segmentRecord(plan record.Trial, w record.Worker, p passed) record.Record {
	plan.ID, plan.Order = fmt.Sprintf("segment-%d", p.Number), p.Number
	w.Open, w.Close = &p.from, &p.to
	return record.Record{
		Schema: record.Schema, Trial: plan, Outcome: record.OK, Workers: []record.Worker{w}, Segment: &p.Segment,
		StartedAt: time.Now().Add(-time.Duration(p.to.Reading.AtNs - p.from.Reading.AtNs)).UTC(),
	}
}
