package synthetic

import (
	"math"
	"slices"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// drainS is for how long a client waits after its window for what it sent.
const drainS = 2

// Serve gives the one client of a record, and its server, what they count where a request
// sent at some second since the load began takes so many seconds: in an open loop by the
// client's rate, else in a closed loop. The service is asked in the order of the sends.
func Serve(r *record.Record, service func(at float64) float64) {
	s, c := &r.Workers[0], &r.Workers[1]
	n := serving{
		opens: warmupNs / 1e9, closes: warmupNs/1e9 + float64(c.Result.ToNs-c.Result.FromNs)/1e9,
		service: hist.New(), response: hist.New(), lag: hist.New(), ages: hist.New(),
	}
	n.run(c.Setup.Load, service)
	n.fill(c, c.Setup.Load.Rate > 0)
	for _, edge := range []struct {
		at   *record.Edge
		when float64
	}{{s.Open, n.opens}, {s.Close, n.closes}, {c.Open, n.opens}, {c.Close, n.closes}} {
		edge.at.Reading.Counts = n.counts(edge.when, edge.at.Reading.Counts.Connections)
	}
	for i := range c.Ticks {
		tick := &c.Ticks[i]
		done := n.counts(float64(tick.AtNs-c.Result.FromNs)/1e9+n.opens, 0)
		tick.Exchanges, tick.ReceivedBytes = done.Exchanges, done.ReceivedBytes
	}
	s.Ticks = nil
}

// serving is a load in seconds since it began.
type serving struct {
	opens, closes                float64
	done                         []float64 // completions
	inside                       contract.Inside
	completed, drained           int64
	service, response, lag, ages *hist.Histogram
}

// slotState is when a slot completed its last exchange, and when its next falls due.
type slotState struct{ free, due float64 }

func (n *serving) run(load contract.Load, service func(float64) float64) {
	slots := make([]slotState, load.Connections)
	for i := range slots {
		if load.Rate > 0 {
			slots[i].due = float64(i) / load.Rate
		}
	}
	for {
		next := -1 // the slot that sends first
		for i, s := range slots {
			if s.due < n.closes && (load.Rate > 0 || s.free < n.closes) && (next < 0 || max(s.due, s.free) < max(slots[next].due, slots[next].free)) {
				next = i
			}
		}
		if next < 0 {
			break
		}
		s := &slots[next]
		before, sent := s.free, max(s.due, s.free)
		s.free = sent + service(sent)
		n.count(s.due, before, sent, s.free, load.Rate > 0)
		if load.Rate > 0 {
			s.due += float64(len(slots)) / load.Rate
		}
	}
	slices.Sort(n.done)
}

// count enters an exchange that was due, and sent, by a slot that had been free since before.
func (n *serving) count(due, before, sent, done float64, open bool) {
	n.done = append(n.done, done)
	if open && due >= n.opens {
		n.inside.Due++
	}
	if !open {
		due = sent
	}
	end := n.closes + drainS
	switch {
	case done < n.opens:
		return
	case done > end:
		n.ages.Record(int64(1e9*(end-due)), 1)
		return
	case done < n.closes:
		n.completed++
	default:
		n.drained++
	}
	share := func(from float64) float64 {
		return max(0, min(done, n.closes)-max(from, n.opens)) / (done - from)
	}
	n.inside.Exchanges += share(sent)
	n.inside.Cycles += share(before)
	if !open {
		n.inside.IdleNs += int64(1e9 * (sent - before))
	}
	n.service.Record(int64(1e9*(done-sent)), 1)
	n.response.Record(int64(1e9*(done-due)), 1)
	n.lag.Record(int64(1e9*(sent-due)), 1)
}

// counts are those since the load began.
func (n *serving) counts(at float64, connections int64) contract.Counts {
	done, _ := slices.BinarySearch(n.done, math.Nextafter(at, 0))
	return contract.Counts{Exchanges: int64(done), SentBytes: int64(done) * messageBytes, ReceivedBytes: int64(done) * messageBytes, Connections: connections}
}

func (n *serving) fill(c *record.Worker, open bool) {
	r := c.Result
	r.Counts = contract.Counts{Exchanges: n.completed, SentBytes: n.completed * messageBytes, ReceivedBytes: n.completed * messageBytes}
	r.Drained, r.Inside = n.drained, &n.inside
	encode := func(h *hist.Histogram) string {
		text, err := h.Encode()
		if err != nil {
			panic(err) // a histogram made here always encodes
		}
		return text
	}
	r.Service = encode(n.service)
	if open {
		r.Response, r.Lag = encode(n.response), encode(n.lag)
	}
	if r.Unfinished = n.ages.Count(); r.Unfinished > 0 {
		r.Ages = encode(n.ages)
	}
}

// Pauses is a service that answers in so much but for its pauses: of a length, again and
// again, the first at some time since the load began.
func Pauses(answers, first, every, length time.Duration) func(float64) float64 {
	return func(at float64) float64 {
		into := math.Mod(at-first.Seconds(), every.Seconds())
		if at >= first.Seconds() && into < length.Seconds() {
			return length.Seconds() - into + answers.Seconds()
		}
		return answers.Seconds()
	}
}
