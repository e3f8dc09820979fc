package bench

import (
	"cmp"

	"netdyno/internal/contract"
)

// maxTimeline bounds, for each worker, the ticks of a record that have more than
// counts, and the meter's readings at ticks: a trial of seven minutes keeps all of
// them, a longer one every second, every fourth … so that a day's record stays small.
const maxTimeline = 2048

// thinning says which of the ticks that follow keep more than their counts.
type thinning struct {
	every, seen, kept int // every 0 is 1
}

// keep files a tick; the caller holds mu.
func (c *conversation) keep(tick contract.Tick, meter *contract.Meter) {
	if tick.Runtime != nil || tick.Times != nil || meter != nil {
		if c.thin.seen%cmp.Or(c.thin.every, 1) == 0 {
			c.thin.kept++
		} else {
			tick.Runtime, tick.Times, meter = nil, nil, nil
		}
		c.thin.seen++
	}
	c.worker.Ticks = append(c.worker.Ticks, tick)
	if meter != nil {
		c.worker.Metered = append(c.worker.Metered, *meter)
	}
	if c.thin.kept == maxTimeline {
		c.thinOut()
	}
}

// thinOut drops every second of what was kept, and keeps half as much from here on.
func (c *conversation) thinOut() {
	c.thin = thinning{every: 2 * cmp.Or(c.thin.every, 1)}
	readings := c.worker.Metered[:0]
	for i, m := range c.worker.Metered {
		if i%2 == 0 {
			readings = append(readings, m)
		}
	}
	c.worker.Metered = readings
	for i := range c.worker.Ticks {
		t := &c.worker.Ticks[i]
		if t.Runtime == nil && t.Times == nil {
			continue
		}
		if c.thin.kept%2 == 1 {
			t.Runtime, t.Times = nil, nil
		}
		c.thin.kept++
	}
	c.thin.kept = max((c.thin.kept+1)/2, len(readings))
}
