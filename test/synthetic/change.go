package synthetic

import (
	"time"

	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// Histogram encodes a histogram of how often each time was taken.
func Histogram(times map[time.Duration]int64) string {
	h := hist.New()
	for each, n := range times {
		h.Record(int64(each), n)
	}
	text, err := h.Encode()
	if err != nil {
		panic(err)
	}
	return text
}

// Still lets a client complete nothing for a while, in seconds after the opening,
// and catch up at once.
func Still(c *record.Worker, from, to float64) {
	last := c.Ticks[0]
	for i := range c.Ticks {
		tick := &c.Ticks[i]
		if at := float64(tick.AtNs-c.Result.FromNs) / 1e9; at > from && at < to {
			tick.Exchanges, tick.ReceivedBytes = last.Exchanges, last.ReceivedBytes
			continue
		}
		last = *tick
	}
}

// Leave lets exchanges of a client stay without an answer: how many by their age when
// draining ended.
func Leave(c *record.Worker, ages map[time.Duration]int64) {
	c.Result.Unfinished, c.Result.Ages = 0, Histogram(ages)
	for _, n := range ages {
		c.Result.Unfinished += n
	}
}
