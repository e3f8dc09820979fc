package load

import (
	"math/rand/v2"

	"netdyno/internal/contract"
	"netdyno/internal/draw"
)

// schedule draws the intended starts of one slot. It never looks at
// completions, so an open loop's schedule exists before anything is sent.
// One goroutine uses it.
type schedule struct {
	arrival contract.Arrival
	first   float64 // ns after the start
	step    float64 // mean ns between starts
	k       float64
	at      float64 // Poisson: the last start drawn
	rng     *rand.Rand

	// Of drawn arrivals and of a rate that changes; starts are places then, in exchanges.
	rate  float64
	cycle *draw.Cycle
	warp  *draw.Warp

	turns *turns
}

// newSchedule spreads rate (exchanges per second over all slots) evenly:
// constant arrivals are staggered so that the slots together keep one even
// rhythm; Poisson arrivals are independent, and their superposition is Poisson
// at the whole rate; drawn arrivals are one sequence, which the slots take in turn.
func newSchedule(of *Load, slot, slots int) schedule {
	const second = 1e9
	l := of.plan
	s := schedule{
		arrival: l.Arrival,
		first:   (float64(slot) + 0.5) / l.Rate * second,
		step:    float64(slots) / l.Rate * second,
		rate:    l.Rate, cycle: of.cycle, warp: of.warp, turns: of.turns,
	}
	if s.warp != nil || s.cycle != nil {
		s.first, s.step = float64(slot)+0.5, float64(slots)
	}
	if l.Arrival == contract.Poisson {
		s.rng = rand.New(rand.NewPCG(of.seed, uint64(slot)))
		s.at = s.rng.ExpFloat64() * s.step
	}
	return s
}

// peek returns the next intended start in ns after the load's start.
func (s *schedule) peek() int64 { return s.turns.dueAt(s.place()) }

// place returns it in ns of the turns' time.
func (s *schedule) place() int64 {
	at := s.at
	if s.arrival != contract.Poisson {
		at = s.first + float64(s.k*s.step)
	}
	if s.warp == nil && s.cycle == nil {
		return int64(at)
	}
	if s.cycle != nil {
		at = s.cycle.Place(uint64(at))
	}
	if s.warp != nil {
		return s.warp.DueNs(at)
	}
	return int64(float64(at/s.rate) * 1e9)
}

// advance moves to the start after that.
func (s *schedule) advance() {
	if s.arrival == contract.Poisson {
		s.at += s.rng.ExpFloat64() * s.step
		return
	}
	s.k++
}

// Agenda holds items by the time they are due, earliest first: a binary heap
// that does not allocate once grown (container/heap allocates on each push).
// One goroutine uses it.
type Agenda[T any] struct{ heap []entry[T] }

type entry[T any] struct {
	at   int64
	item T
}

// Len returns the number of items.
func (a *Agenda[T]) Len() int { return len(a.heap) }

// Push adds an item due at ns.
func (a *Agenda[T]) Push(at int64, item T) {
	a.heap = append(a.heap, entry[T]{})
	h, i := a.heap, len(a.heap)-1
	for ; i > 0 && h[(i-1)/2].at > at; i = (i - 1) / 2 {
		h[i] = h[(i-1)/2]
	}
	h[i] = entry[T]{at, item}
}

// Peek returns when the earliest item is due, and the item. The agenda must
// not be empty.
func (a *Agenda[T]) Peek() (int64, T) { return a.heap[0].at, a.heap[0].item }

// Pop removes the earliest item. The agenda must not be empty.
func (a *Agenda[T]) Pop() T {
	h := a.heap
	first, last := h[0].item, h[len(h)-1]
	h[len(h)-1] = entry[T]{} // let go of what it points to
	h = h[:len(h)-1]
	i := 0
	for 2*i+1 < len(h) {
		child := 2*i + 1
		if child+1 < len(h) && h[child+1].at < h[child].at {
			child++
		}
		if last.at <= h[child].at {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = last
	}
	a.heap = h
	return first
}
