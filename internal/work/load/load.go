// Package load decides when a client sends and counts what came of it. A
// transport pulls: it asks each of its slots for the next exchange and reports
// each completion; it never sees rates, windows or histograms.
//
//	due, more := slot.Next(now)      // wait until due, then send
//	slot.Done(sent, now, received)   // or slot.Fail(err)
//
// A slot is a place for one exchange in flight. It belongs to one goroutine or
// event loop at a time; nothing on its path locks or allocates.
package load

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
	"netdyno/internal/hist"
)

// DefaultDrain bounds how long a stopping client waits for what is in flight.
const DefaultDrain = 2 * time.Second

// Load is the work of one client in one trial. The worker's control goroutine calls
// Start, Open, Close and End; the transport owns the slots.
type Load struct {
	plan     contract.Load
	seed     uint64
	exchange contract.Exchange
	draws    *Draws
	replay   *Replay     // of a trace, else nil
	thinks   []int64     // of each class, in ns; nil where classes do not say
	cycle    *draw.Cycle // of drawn arrivals, else nil
	warp     *draw.Warp  // nil while the rate never changes
	turns    *turns      // in which exchanges fall due; nil for always
	dues     *dues       // of an open loop in turns, of all slots; else nil
	slots    []Slot
	shards   []shard

	before, window, drain phase
	spare                 phase           // for the next window; nil while there is none
	closed                []*Part         // windows that have ended, until they are read
	past                  contract.Counts // of those that were
	pastSent              int64           // … their requests
	names                 byWay[string]
	numbered              bool
	events                bool         // setup asks when events of replies come
	stages                bool         // … how long stages of exchanges take
	left                  byWay[int64] // unfinished, once they are counted
	stepEnds              []int64      // in ns since the start

	startNs atomic.Int64
	closeNs atomic.Int64 // math.MaxInt64 until the load ends; dues after it are not sent
	fromNs  int64
	open    bool
	ended   chan struct{}
	alarm   alarm
	endOnce sync.Once

	slicer *hist.Slicer // nil until Slice is called
}

// New makes the slots of every active connection and spreads the connections over
// shards, one for each loop of the transport. Its error is of kind setup and names
// the key of setup.load that is out of range.
func New(setup contract.Setup, shards int) (*Load, error) {
	plan := setup.Load
	if err := normalise(&plan); err != nil {
		return nil, Failure(contract.SetupFailed, err)
	}
	l := &Load{plan: plan, seed: setup.Seed, events: setup.Events, stages: setup.Stages, exchange: setup.Exchange, ended: make(chan struct{}), warp: draw.NewWarp(plan.Phases, plan.Repeat)}
	var err error
	if l.draws, err = DrawsOf(setup); err != nil {
		return nil, err
	}
	if l.replay, err = l.draws.replayOf(setup); err != nil {
		return nil, err
	}
	if l.turns, err = turnsOf(plan); err != nil {
		return nil, err
	}
	if plan.Thinks() {
		for _, c := range plan.Classes {
			l.thinks = append(l.thinks, c.ThinkNs)
		}
	}
	if plan.Arrival == contract.Drawn {
		if l.cycle, err = draw.NewCycle(plan.Gaps, setup.Seed); err != nil {
			return nil, Failure(contract.SetupFailed, fmt.Errorf("load.gaps: %w", err))
		}
	}
	l.closeNs.Store(math.MaxInt64)
	active := l.ActiveConnections()
	n := active * plan.InFlight
	shards = max(1, min(shards, n))
	l.shards = make([]shard, shards)
	l.nameWays()
	l.newPhases()
	l.slots = make([]Slot, n)
	for i := range l.slots {
		s := &l.slots[i]
		s.load, s.shard, s.left = l, &l.shards[(i/plan.InFlight)%shards], math.MaxInt64
		s.pending.Store(idle)
		s.draw, s.replay, s.times = l.draws.fixed, l.replay, l.draws.replay == nil
		if l.draws.Vary() {
			s.number, s.varies = uint64(l.placeOf(i)), true
		}
		if plan.Amount > 0 {
			// The connection's amount is shared out over its slots, the remainder to the first.
			s.left = plan.Amount / int64(plan.InFlight)
			if int64(i%plan.InFlight) < plan.Amount%int64(plan.InFlight) {
				s.left++
			}
		}
		if plan.Rate > 0 {
			s.open, s.schedule = true, l.scheduleOf(i)
			if plan.Arrival == contract.Constant && l.warp == nil {
				s.free = int64(s.schedule.first - s.schedule.step) // as if it had run before
			}
		} else if plan.ThinkNs > 0 {
			s.thinkNs = plan.ThinkNs
			whole, rest := plan.ThinkNs/int64(n), plan.ThinkNs%int64(n) // think · i ÷ n could overflow
			s.free = whole*int64(i) + rest*int64(i)/int64(n) - plan.ThinkNs
		}
	}
	if l.draws.Vary() {
		l.newWaits()
	}
	if l.turns != nil && plan.Rate > 0 {
		l.dues = &dues{schedule: newSchedule(l, 0, 1)}
	}
	return l, nil
}

// newPhases makes room for what is counted.
func (l *Load) newPhases() {
	l.before = l.newPhase(len(l.shards), func(int) *times { return nil })
	l.window = l.newWindow()
	l.drain = l.newPhase(len(l.shards), func(i int) *times { return l.window[i].times })
	l.enter(l.before)
}

// Echoes says that what comes back is as long as what was sent: sizes are drawn once for both
// directions. Call it before Start.
func (l *Load) Echoes() {
	l.draws.echo()
	for i := range l.slots {
		l.slots[i].draw = l.draws.fixed
	}
}

// Numbered says that the transport fills in what exchanges carry: Slot.Draw has the number of
// each, and Slot.Carries is told its size. Call it before Start.
func (l *Load) Numbered() {
	l.numbered = true
	for i := range l.slots {
		l.slots[i].numbered, l.slots[i].number = true, uint64(l.placeOf(i))
	}
}

// scheduleOf returns the schedule of a slot of an open loop from its beginning.
func (l *Load) scheduleOf(slot int) schedule {
	return newSchedule(l, l.placeOf(slot), len(l.slots))
}

// placeOf returns the number by which schedules and draws know a slot. Slots take their
// places connection by connection, so that the pipelined slots of one connection are not
// neighbours in time.
func (l *Load) placeOf(slot int) int {
	n := l.plan.InFlight
	return (slot%n)*l.ActiveConnections() + slot/n
}

// NewForGoroutines is New for a transport with a goroutine for each slot or each
// connection: a few shards for each thread keep them off each other's cache lines.
func NewForGoroutines(setup contract.Setup) (*Load, error) {
	return New(setup, 2*runtime.GOMAXPROCS(0))
}

// arrivals are the known processes.
var arrivals = []contract.Arrival{contract.Constant, contract.Poisson, contract.Drawn, contract.Recorded}

func normalise(p *contract.Load) error {
	if p.InFlight == 0 {
		p.InFlight = 1
	}
	if p.ActiveShare == 0 {
		p.ActiveShare = 1
	}
	if p.Arrival == "" {
		p.Arrival = contract.Constant
	}
	if p.DrainNs == 0 {
		p.DrainNs = int64(DefaultDrain)
	}
	const most = 1 << 22
	switch {
	case p.Connections < 1 || p.Connections > most:
		return fmt.Errorf("load.connections is %d, expected 1 to %d", p.Connections, most)
	case p.InFlight < 1 || p.Connections*p.InFlight > most:
		return fmt.Errorf("load.in_flight is %d over %d connections, expected 1 to %d in all", p.InFlight, p.Connections, most)
	case p.ActiveShare < 0 || p.ActiveShare > 1:
		return fmt.Errorf("load.active_share is %v, expected more than 0 up to 1", p.ActiveShare)
	case p.Rate < 0 || math.IsNaN(p.Rate) || p.Rate > 1e9:
		return fmt.Errorf("load.rate is %v, expected 0 (closed loop) to 1e9 exchanges per second", p.Rate)
	case !slices.Contains(arrivals, p.Arrival):
		return fmt.Errorf("load.arrival is %q, expected one of %q", p.Arrival, arrivals)
	case (p.Arrival == contract.Recorded) != (p.Trace != nil) || p.Trace != nil && !(p.Rate > 0):
		return fmt.Errorf("load.arrival is %q and load.rate %v; expected load.trace beside arrival %q and a rate, and only there", p.Arrival, p.Rate, contract.Recorded)
	case !(p.Rate > 0) && (len(p.Phases) > 0 || p.Arrival == contract.Drawn):
		return fmt.Errorf("load.rate is 0 with load.phases or arrival %q: a closed loop has no schedule", contract.Drawn)
	case p.Rate > 0 && p.ThinkNs > 0:
		return fmt.Errorf("load.think_ns is %d with load.rate %v: an open loop does not think", p.ThinkNs, p.Rate)
	case p.Thinks() && p.ThinkNs <= 0:
		return fmt.Errorf("load.think_ns is %d, expected the mean of the classes' pauses, above 0", p.ThinkNs)
	case slices.ContainsFunc(p.Classes, func(c contract.Class) bool { return c.ThinkNs < 0 }):
		return errors.New("load.classes: a think_ns is negative")
	case p.ThinkNs < 0 || p.Amount < 0 || p.DrainNs < 0:
		return fmt.Errorf("load.think_ns, load.amount and load.drain_ns are %d, %d and %d, expected none negative", p.ThinkNs, p.Amount, p.DrainNs)
	}
	if p.Arrival == contract.Drawn {
		if err := p.Gaps.Check(draw.MostGap); err != nil {
			return fmt.Errorf("load.gaps: %w", err)
		}
	}
	if err := draw.CheckPhases(p.Phases); err != nil {
		return fmt.Errorf("load.phases: %w", err)
	}
	return nil
}

func (l *Load) newTimes(shard int, all *shared) *times {
	t := &times{shared: all}
	bySize := l.draws.Vary()
	if !bySize {
		t.service = hist.NewRecorder()
	}
	if l.plan.Rate > 0 {
		if !bySize {
			t.response = hist.NewRecorder()
		}
		active, shards := l.ActiveConnections(), len(l.shards)
		connections := (active + shards - 1 - shard) / shards
		if l.turns == nil {
			t.sends = newSends(l.plan.Rate, float64(connections)/float64(active))
		}
	}
	if l.plan.Rate > 0 || l.plan.ThinkNs > 0 {
		t.lag = hist.NewRecorder()
	}
	return t
}

// Plan returns the load with its defaults filled in.
func (l *Load) Plan() contract.Load { return l.plan }

// Exchange returns the unit of work.
func (l *Load) Exchange() contract.Exchange { return l.exchange }

// ActiveConnections returns how many connections, the first ones, carry load.
func (l *Load) ActiveConnections() int {
	return max(1, int(math.Ceil(l.plan.ActiveShare*float64(l.plan.Connections)-1e-9)))
}

// Slots returns the slots of one connection; none when it is idle.
func (l *Load) Slots(connection int) []Slot {
	if connection >= l.ActiveConnections() {
		return nil
	}
	n := l.plan.InFlight
	return l.slots[connection*n : (connection+1)*n]
}

// Start sets the instant from which schedules count. With a fixed amount and
// no opening mark before it, it opens the window too.
func (l *Load) Start() {
	now := Now()
	l.startNs.Store(now)
	if l.replay != nil {
		l.replay.begin()
	}
	if l.plan.Amount > 0 && !l.open {
		l.Open(now)
	}
}

// Open begins the window: what completes from now on is counted in it.
func (l *Load) Open(now int64) {
	l.open, l.fromNs = true, now
	for _, t := range l.window {
		if s := t.times.sends; s != nil && s.until == 0 {
			s.from, s.until = now, now+int64(stretchOf(l.plan.Rate))
		}
		t.parts.inside, t.parts.counted = span{now, math.MaxInt64}, whole
	}
	l.enter(l.window)
}

// Close ends an open window and with it the load, and reports whether there was
// one: before the window opens, a mark without reset only reads.
func (l *Load) Close(now int64) bool {
	if l.open {
		l.End(now)
	}
	return l.open
}

// End closes the window and ends the load: exchanges due later are not sent,
// completions count as drained. Only the first call has an effect.
func (l *Load) End(now int64) {
	l.endOnce.Do(func() {
		l.closeNs.Store(now)
		for _, c := range l.drain {
			c.parts.inside = span{l.fromNs, now}
		}
		l.enter(l.drain)
		close(l.ended)
	})
}

// Ended is closed by End. A transport that waits for a due time waits for it too.
func (l *Load) Ended() <-chan struct{} { return l.ended }

func (l *Load) enter(p phase) {
	for i := range l.shards {
		l.shards[i].now.Store(p[i])
	}
}

// Snapshot returns the sums since ready, as they were when a window last opened or
// closed. The phase that began then is left out, so that the snapshot and the result
// differ by at most one completion per slot, however late Snapshot is called.
func (l *Load) Snapshot() contract.Counts {
	past := l.phasesBefore()
	if l.closeNs.Load() != math.MaxInt64 {
		past = append(past, l.window)
	}
	return l.sum(past)
}

// Counts returns the sums since ready over all phases.
func (l *Load) Counts() contract.Counts { return l.sum(append(l.phasesBefore(), l.window, l.drain)) }

// phasesBefore are the phases before the window, but those that are in past.
func (l *Load) phasesBefore() []phase {
	ended := []phase{l.before}
	for _, p := range l.closed {
		ended = append(ended, p.phase)
	}
	return ended
}

func (l *Load) sum(phases []phase) contract.Counts {
	c := l.past
	c.Errors = maps.Clone(c.Errors)
	for _, p := range phases {
		l.add(p, &c)
	}
	return c
}
