package load

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"time"

	"netdyno/internal/contract"
)

// turns are the stretches in which exchanges fall due (CONTRACT.md, section Turns), in ns
// since the load's start. Any goroutine may read them.
type turns struct {
	spans  [][2]int64
	before []int64 // the lengths of all turns before each
}

// never is when what lies beyond the last turn is due.
const never = math.MaxInt64 / 4

// mostTurns bounds a client's turns.
const mostTurns = 4096

// turnsOf reads the turns of a load; nil where it has none.
func turnsOf(plan contract.Load) (*turns, error) {
	if plan.Turns == nil {
		return nil, nil
	}
	if len(plan.Turns) == 0 || len(plan.Turns) > mostTurns {
		return nil, Failure(contract.SetupFailed, fmt.Errorf("load.turns has %d turns, expected 1 to %d", len(plan.Turns), mostTurns))
	}
	if plan.Amount > 0 || plan.Trace != nil {
		return nil, Failure(contract.Unsupported, fmt.Errorf("load.turns is given beside load.amount or load.trace, which take no turns"))
	}
	t := &turns{spans: plan.Turns}
	length, last := int64(0), int64(0)
	for i, span := range plan.Turns {
		if span[0] < last || span[1] <= span[0] || span[1] > never {
			return nil, Failure(contract.SetupFailed, fmt.Errorf("load.turns: turn %d is %v, expected a beginning at %d or later and an end after it", i, span, last))
		}
		t.before = append(t.before, length)
		length, last = length+span[1]-span[0], span[1]
	}
	return t, nil
}

// dueAt returns when what is due at ns of the turns' own time is due.
func (t *turns) dueAt(ns int64) int64 {
	if t == nil {
		return ns
	}
	k := sort.Search(len(t.before), func(k int) bool { return t.before[k] > ns }) - 1
	span := t.spans[max(k, 0)]
	if at := span[0] + ns - t.before[max(k, 0)]; at < span[1] {
		return at
	}
	return never // beyond the last turn
}

// next returns the first instant of a turn at or after ns.
func (t *turns) next(ns int64) int64 {
	k, _ := slices.BinarySearchFunc(t.spans, ns, func(span [2]int64, ns int64) int {
		if span[1] <= ns {
			return -1
		}
		return 1
	})
	if k == len(t.spans) {
		return never
	}
	return max(ns, t.spans[k][0])
}

// dues is the schedule of all slots of a load that goes on: a slot that is free takes the
// next due, so that no exchange waits for one slot while another is free. Any goroutine may
// take from it.
type dues struct {
	mu sync.Mutex
	schedule
}

func (d *dues) take() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	due := d.peek()
	d.advance()
	return due
}

// inTurn returns the first instant of a turn at or after one of the clock of Now.
func (l *Load) inTurn(at int64) int64 {
	if l.turns == nil {
		return at
	}
	start := l.startNs.Load()
	return start + l.turns.next(at-start)
}

// PartSettles is how long after the end of a part its counts are read: by then no
// completion can still be on its way to them.
const PartSettles = 20 * time.Millisecond

// Part is a window that has ended while the load goes on.
type Part struct {
	phase    phase
	from, to int64
}

// Parting is a ResultSource whose load can be counted in parts. Only the worker's control
// goroutine calls it.
type Parting interface {
	// Part closes the window and opens the next at the same instant; nil where none is open.
	Part(now int64) *Part
	// PartResult returns what a part holds, PartSettles after its end. Call it once.
	PartResult(p *Part) (contract.Result, error)
}

// Part implements Parting.
func (l *Load) Part(now int64) *Part {
	if !l.open || l.closeNs.Load() != math.MaxInt64 {
		return nil
	}
	if l.spare == nil {
		l.spare = l.newWindow()
	}
	p := &Part{l.window, l.fromNs, now}
	l.closed = append(l.closed, p)
	l.window, l.fromNs, l.spare = l.spare, now, nil
	l.drain = l.newPhase(len(l.shards), func(i int) *times { return l.window[i].times })
	l.enter(l.window)
	return p
}

// PartResult implements Parting.
func (l *Load) PartResult(p *Part) (contract.Result, error) {
	r := contract.Result{FromNs: p.from, ToNs: p.to, Reasons: p.phase.reasons()}
	l.add(p.phase, &r.Counts)
	_, err := l.encodeTimes(p.phase, &r)
	if err == nil {
		r.Lengths, err = l.lengths(p.phase, r.Counts.Exchanges)
	}
	if err == nil {
		err = l.enterApart(p.phase, nil, &r)
	}
	if err == nil {
		err = l.enterParts(p.phase, &r)
	}
	if err == nil {
		r.Bins, err = p.phase.binResults(l.plan.Rate > 0)
	}
	l.closed = slices.DeleteFunc(l.closed, func(c *Part) bool { return c == p })
	l.add(p.phase, &l.past)
	l.pastSent += p.phase.sent()
	if l.spare == nil { // so that the next part need not wait for its room
		l.spare = l.newWindow()
	}
	return r, err
}

// newWindow makes room for the counts of a window.
func (l *Load) newWindow() phase {
	all := &shared{apart: newByWay[classTimes](l), sizes: l.newSizes()}
	return l.newPhase(len(l.shards), func(shard int) *times { return l.newTimes(shard, all) })
}
