package load

import (
	"math/rand/v2"

	"netdyno/internal/contract"
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
}

// newSchedule spreads rate (exchanges per second over all slots) evenly:
// constant arrivals are staggered so that the slots together keep one even
// rhythm; Poisson arrivals are independent, and their superposition is Poisson
// at the whole rate.
func newSchedule(l contract.Load, seed uint64, slot, slots int) schedule {
	const second = 1e9
	s := schedule{
		arrival: l.Arrival,
		first:   (float64(slot) + 0.5) / l.Rate * second,
		step:    float64(slots) / l.Rate * second,
	}
	if l.Arrival == contract.Poisson {
		s.rng = rand.New(rand.NewPCG(seed, uint64(slot)))
		s.at = s.rng.ExpFloat64() * s.step
	}
	return s
}

// peek returns the next intended start in ns after the load's start.
func (s *schedule) peek() int64 {
	if s.arrival == contract.Poisson {
		return int64(s.at)
	}
	return int64(s.first + s.k*s.step)
}

// advance moves to the start after that.
func (s *schedule) advance() {
	if s.arrival == contract.Poisson {
		s.at += s.rng.ExpFloat64() * s.step
		return
	}
	s.k++
}
