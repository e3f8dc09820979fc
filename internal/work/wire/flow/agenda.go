package flow

import "netdyno/internal/work/load"

// Agenda knows which slots of some clients' flows have yet to send: those that
// wait until their next exchange is due, and how many still hold a slot at all.
// The flows that share one also share a goroutine, or a lock.
type Agenda struct {
	waiting load.Agenda[waiting]
	held    int
}

// waiting is a slot between two exchanges.
type waiting struct {
	flow *Client
	slot *load.Slot
}

// Held returns how many slots have not been let go. At 0 the load is over.
func (a *Agenda) Held() int { return a.held }

// Due returns when the next waiting slot is due; false when none waits.
func (a *Agenda) Due() (at int64, ok bool) {
	if a.waiting.Len() == 0 {
		return 0, false
	}
	at, _ = a.waiting.Peek()
	return at, true
}

// Fire takes up the next exchange that is due at now and returns its flow, whose
// bytes are to be written; nil when nothing is due.
func (a *Agenda) Fire(now int64) *Client {
	for a.waiting.Len() > 0 {
		due, w := a.waiting.Peek()
		if due > now {
			return nil
		}
		a.waiting.Pop()
		if !w.flow.lost {
			w.flow.queue(w.slot)
			return w.flow
		}
		a.cancel(w)
	}
	return nil
}

// End lets go of every slot that is due after now, because the load has ended.
// What was due before is still sent.
func (a *Agenda) End(now int64) {
	var kept []waiting
	for a.waiting.Len() > 0 {
		due, w := a.waiting.Peek()
		a.waiting.Pop()
		if due > now {
			a.cancel(w)
		} else {
			kept = append(kept, w)
		}
	}
	for _, w := range kept {
		a.waiting.Push(now, w)
	}
}

func (a *Agenda) cancel(w waiting) {
	w.slot.Cancel()
	a.held--
}
