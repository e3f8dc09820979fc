package session

import (
	"sort"
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/record"
	"netdyno/internal/run/study"
)

// trialOverhead is what starting, connecting, verifying and ending a trial
// takes, for estimates.
const trialOverhead = 200 * time.Millisecond

// probeOverhead is what a probe takes besides: its samples are read after its end.
const probeOverhead = 1400 * time.Millisecond

// Estimate returns how long some trials of the plan will take.
func (s *Session) Estimate(trials []record.Trial) study.Estimate {
	if s.inTurns { // nothing starts or ends between two of them
		var e study.Estimate
		for _, t := range trials {
			window, _ := quantity.ParseDuration(t.Levels["window"]) // of a trial that was planned
			e.Total += window
		}
		return e
	}
	return estimate(trials, s.BytesPerS())
}

// Expected returns how long trials take on the loopback, by the plan alone.
func Expected(trials []record.Trial) time.Duration {
	return estimate(trials, 0).Total
}

func estimate(trials []record.Trial, bytesPerS float64) study.Estimate {
	e := study.EstimateTime(trials, study.Pace{Overhead: trialOverhead, BytesPerS: bytesPerS})
	for _, t := range trials {
		if t.Probe {
			e.Total += probeOverhead
		}
	}
	return e
}

// BytesPerS returns how fast fixed amounts of work are estimated to move: as the
// best stream of this machine's calibration, where there is one.
func (s *Session) BytesPerS() float64 {
	if c := s.Facts.Calibration; c != nil && c.LinkBytesPerS > 0 {
		return c.LinkBytesPerS
	}
	return study.DefaultBytesPerS
}

// Clock says how long the rest of a run will take: what the plan gives the trials that are
// left, times what those that have ended took for each second of theirs. One goroutine uses
// it.
type Clock struct {
	turns []turn
	sums  []time.Duration // what was planned for the turns before each, and for all
	of    map[string]int  // trial → its turn
	looks []int           // after which the run may end, before the last

	probes        time.Duration // planned for all probes, which run at the end
	took, planned time.Duration // of the turns that have ended, probes apart
	next          int           // turn that runs, or is about to
	since         time.Time     // when it began
}

// turn is a trial, or the trials of a round, which run at the same time.
type turn struct {
	block   int
	probe   bool
	open    int // trials that have not ended
	planned time.Duration
}

// Clock returns the clock of trials that are about to run.
func (s *Session) Clock(left []record.Trial) *Clock {
	return NewClock(left, s.Study.OwnLooks, s.Estimate)
}

// NewClock returns a clock for trials that may end after one of some looks. The estimate of
// trials that run at once is that of one.
func NewClock(left []record.Trial, looks []int, estimate func([]record.Trial) study.Estimate) *Clock {
	c := &Clock{of: map[string]int{}, looks: looks, since: time.Now(), sums: []time.Duration{0}}
	for from := 0; from < len(left); {
		to := from + 1
		for to < len(left) && study.AtOnce(left[from], left[to]) {
			to++
		}
		t := turn{block: left[from].Block, probe: left[from].Probe, open: to - from, planned: estimate(left[from:to]).Total}
		for _, one := range left[from:to] {
			c.of[one.ID] = len(c.turns)
		}
		if t.probe {
			c.probes += t.planned
		}
		c.turns, c.sums = append(c.turns, t), append(c.sums, c.sums[len(c.turns)]+t.planned)
		from = to
	}
	return c
}

// Began notes that the first trial begins: what was prepared before is no part of it.
func (c *Clock) Began(at time.Time) {
	if c.next == 0 {
		c.since = at
	}
}

// Ended notes that a trial has ended, and how long its turn took, preparations before the
// trial included.
func (c *Clock) Ended(id string, at time.Time) {
	i, known := c.of[id]
	if !known {
		return
	}
	t := &c.turns[i]
	if t.open--; t.open > 0 {
		return
	}
	if !t.probe {
		c.took, c.planned = c.took+at.Sub(c.since), c.planned+t.planned
	}
	c.next, c.since = max(c.next, i+1), at // a steered block leaves out some of its trials
}

// Left is how long the run goes on: the least where it may end at its next look, and the
// most.
func (c *Clock) Left(at time.Time) (least, most time.Duration) {
	if c.next >= len(c.turns) {
		return 0, 0
	}
	pace := 1.0
	if c.planned > 0 {
		pace = float64(c.took) / float64(c.planned)
	}
	paced := func(planned time.Duration) time.Duration { return time.Duration(pace * float64(planned)) }
	now := max(0, paced(c.turns[c.next].planned)-at.Sub(c.since))
	all := c.sums[len(c.turns)] - c.sums[c.next+1]
	return now + paced(c.untilLook(all)), now + paced(all)
}

// untilLook is what is planned after the turn that runs, where the run ends at its next look:
// the turns up to that, and the probes. It is all where there is no further look.
func (c *Clock) untilLook(all time.Duration) time.Duration {
	running := c.turns[c.next]
	for _, look := range c.looks {
		end := sort.Search(len(c.turns), func(i int) bool { return c.turns[i].probe || c.turns[i].block > look })
		if !running.probe && running.block <= look && end < len(c.turns) {
			return c.sums[end] - c.sums[c.next+1] + c.probes
		}
	}
	return all
}
