package session

import (
	"slices"
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

// Clock says how long the rest of a run will take, from the plan and from the trials that
// have ended: their times include starting, connecting and warming up. One goroutine uses
// it.
type Clock struct {
	turns []turn
	kinds []kind         // of turns; those of one take the same
	until int            // the next look, to which soon of kinds counts; 0 where there is none
	past  int            // turns before this one are no more counted in kinds
	of    map[string]int // trial → its turn
	looks []int          // after which the run may end, before the last
	ended int

	paces map[string]*pace // of a kind, of an arm, and of all as ""
	last  []ended          // the latest turns, probes apart
	next  int              // turn that runs, or is about to
	since time.Time        // when it began
	now   time.Duration    // that the turn takes in all
	after [2]time.Duration // that those after it take: to the next look, and to the last
}

// turn is a trial, or the trials of a round, which run at the same time.
type turn struct {
	kind, like, all string // whose paces tell: of an arm in a cell, of the arm, of all; of a probe only other probes, which are read after they ran
	block           int
	probe           bool
	open            int // trials that have not ended
	at              int // its place among kinds
	planned         time.Duration
	guessed         bool // of a fixed amount: a slow arm takes a multiple
}

// kind is the turns of which the same is expected.
type kind struct {
	turn
	left, soon int // that are still to come: to the end, and to the next look
}

// pace is what turns took, beside what was planned for them.
type pace struct {
	last          []time.Duration // the latest ones
	took, planned time.Duration
	turns         int
}

// ended is a turn and what it took.
type ended struct {
	turn turn
	took time.Duration
}

// remembered are the turns of a kind that are averaged, and those by which a machine's drift
// is told: enough to level out noise, and few enough to follow an arm that was given up.
const remembered = 8

// kept is the share of a machine's drift that is taken to stay: some of what disturbs it ends
// before the run does.
const kept = 2. / 3

func (p *pace) add(took, planned time.Duration) {
	p.last = append(p.last, took)
	p.last = p.last[max(0, len(p.last)-remembered):]
	p.took, p.planned, p.turns = p.took+took, p.planned+planned, p.turns+1
}

// Clock returns the clock of trials that are about to run.
func (s *Session) Clock(left []record.Trial) *Clock {
	return NewClock(left, s.Study.OwnLooks, s.Estimate)
}

// NewClock returns a clock for trials that may end after one of some looks. The estimate of
// trials that run at once is that of one.
func NewClock(left []record.Trial, looks []int, estimate func([]record.Trial) study.Estimate) *Clock {
	c := &Clock{of: map[string]int{}, paces: map[string]*pace{}, since: time.Now()}
	for from := 0; from < len(left); {
		to := from + 1
		for to < len(left) && study.AtOnce(left[from], left[to]) {
			to++
		}
		t, e := left[from], estimate(left[from:to])
		kind := t.Arm + "\x00" + t.Cell
		if to > from+1 {
			kind = t.Arm // of a mesh, in which a cell is a pair of hosts
		}
		like, all := t.Arm, ""
		if t.Probe {
			kind += "\x00probe"
			like, all = "\x00probe", "\x00probe"
		}
		for _, one := range left[from:to] {
			c.of[one.ID] = len(c.turns)
		}
		c.turns = append(c.turns, turn{kind: kind, like: like, all: all, block: t.Block, probe: t.Probe, open: to - from, planned: e.Total, guessed: e.Guessed > 0})
		from = to
	}
	for _, look := range looks {
		if n := len(c.turns); n > 0 && look < lastBlock(c.turns) {
			c.looks = append(c.looks, look)
		}
	}
	c.sort()
	c.estimate()
	return c
}

// sort finds the kinds of all turns.
func (c *Clock) sort() {
	type same struct {
		kind, like, all string
		probe, guessed  bool
		planned         time.Duration
	}
	places := map[same]int{}
	for i := range c.turns {
		t := &c.turns[i]
		key := same{t.kind, t.like, t.all, t.probe, t.guessed, t.planned}
		at, known := places[key]
		if !known {
			at = len(c.kinds)
			places[key] = at
			c.kinds = append(c.kinds, kind{turn: *t})
		}
		t.at = at
		c.kinds[at].left++
	}
	c.count(0)
}

// count counts the turns that come before a look; of a run that has none before its end, all.
func (c *Clock) count(until int) {
	c.until = until
	for i := range c.kinds {
		c.kinds[i].soon = 0
	}
	for _, t := range c.turns[c.past:] {
		c.kinds[t.at].soon += c.soon(t)
	}
}

// soon is 1 for a turn that comes before the next look, else 0.
func (c *Clock) soon(t turn) int {
	if c.until == 0 || t.probe || t.block <= c.until {
		return 1
	}
	return 0
}

// pass takes the turns before one out of what is to come.
func (c *Clock) pass(to int) {
	for ; c.past < to; c.past++ {
		t := c.turns[c.past]
		c.kinds[t.at].left--
		c.kinds[t.at].soon -= c.soon(t)
	}
}

func lastBlock(turns []turn) int {
	last := 0
	for _, t := range turns {
		if !t.probe {
			last = max(last, t.block)
		}
	}
	return last
}

// Began notes that the first trial begins: what was prepared before is no part of it.
func (c *Clock) Began(at time.Time) {
	if c.ended == 0 {
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
	took := at.Sub(c.since)
	for _, key := range slices.Compact([]string{t.kind, t.like, t.all}) {
		if c.paces[key] == nil {
			c.paces[key] = &pace{}
		}
		c.paces[key].add(took, t.planned)
	}
	if !t.probe {
		c.last = append(c.last, ended{*t, took})
		c.last = c.last[max(0, len(c.last)-remembered):]
	}
	c.next, c.since = max(c.next, i+1), at // a steered block leaves out some of its trials
	c.ended++
	c.estimate()
}

// estimate adds up what the turns that are left will take.
func (c *Clock) estimate() {
	c.now, c.after = 0, [2]time.Duration{}
	if c.next >= len(c.turns) {
		return
	}
	until := 0 // the next look; 0 where there is none
	for _, look := range c.looks {
		if until == 0 && look >= c.turns[c.next].block {
			until = look
		}
	}
	drift := c.drift()
	drifted := func(t turn) time.Duration {
		if t.probe { // most of which is the reading of its samples
			return c.expected(t)
		}
		return time.Duration(drift * float64(c.expected(t)))
	}
	if until != c.until {
		c.count(until)
	}
	c.pass(c.next + 1)
	c.now = drifted(c.turns[c.next])
	for _, k := range c.kinds { // thousands of turns are of a few
		if k.left > 0 {
			takes := drifted(k.turn)
			c.after[1] += takes * time.Duration(k.left)
			c.after[0] += takes * time.Duration(k.soon)
		}
	}
}

// drift is what the latest turns took, divided by what turns of their kinds take over the
// run: a machine that became slower since is slower in what is left, by the share that is
// kept. 1 where nothing tells.
func (c *Clock) drift() float64 {
	var took, expected time.Duration
	for _, e := range c.last {
		took, expected = took+e.took, expected+c.expected(e.turn)
	}
	if expected <= 0 {
		return 1
	}
	return 1 + kept*(float64(took)/float64(expected)-1)
}

// expected is what a turn will take on a machine that stays as it was: what others of its kind took, and as long as these
// are few, also what was planned, corrected by as much as all turns were off.
func (c *Clock) expected(t turn) time.Duration {
	const weight = 2 // turns that the plan counts for
	expected := t.planned
	if p := c.paces[t.all]; p != nil {
		expected = max(0, t.planned+(p.took-p.planned)/time.Duration(p.turns))
		if t.guessed && p.planned > 0 {
			expected = time.Duration(float64(t.planned) * float64(p.took) / float64(p.planned))
		}
	}
	p := c.paces[t.kind]
	if p == nil {
		return expected
	}
	sum := weight * expected
	for _, took := range p.last {
		sum += took
	}
	return sum / time.Duration(weight+len(p.last))
}

// Left is how long the run goes on: the least where it may end at its next look, and the
// most.
func (c *Clock) Left(at time.Time) (least, most time.Duration) {
	now := max(0, c.now-at.Sub(c.since))
	return now + c.after[0], now + c.after[1]
}
