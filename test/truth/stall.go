package truth

import "time"

// Queue is an open loop with even arrivals over slots of one exchange in flight
// each, whose service stalls once: what the truth about a stall follows from.
type Queue struct {
	Slots     int
	Rate      float64 // exchanges per second over all slots
	Injection         // its service, by Common, and its stall, by Stall
}

// Utilisation returns the share of time in which a slot is occupied.
func (q Queue) Utilisation() float64 { return q.Rate * q.Common.Seconds() / float64(q.Slots) }

// ramp returns the share of a window's exchanges that wait because of the stall.
// An exchange due x after the stall began waits S − x·(1−ρ): the slot gains on
// its schedule by the time that it is not occupied. So those due within
// S/(1−ρ) wait, evenly from S down to 0.
func (q Queue) ramp(window time.Duration) float64 {
	return q.Stall.Seconds() / (1 - q.Utilisation()) / window.Seconds()
}

// Percentile is the closed form of the response time's percentile p (0…1) over
// a window in which the stall begins and is recovered from. It takes the
// arrivals as a flow; Responses has them one by one.
func (q Queue) Percentile(p float64, window time.Duration) time.Duration {
	waiting := q.ramp(window)
	if p <= 1-waiting {
		return q.Common
	}
	return q.Common + time.Duration(float64(q.Stall)*(p-(1-waiting))/waiting)
}

// Mean is the closed form of the response time's mean over such a window.
func (q Queue) Mean(window time.Duration) time.Duration {
	return q.Common + time.Duration(q.ramp(window)*float64(q.Stall)/2)
}

// Responses returns the response time of every exchange due in a window whose
// stall begins a quarter of a period after an exchange is due. An exchange is
// sent when it is due or, if later, when its slot's last one is complete.
// Source: D. V. Lindley, The theory of queues with a single server, 1952.
func (q Queue) Responses(window time.Duration) []time.Duration {
	every := time.Duration(float64(time.Second) / q.Rate)
	begin := window / 5 / every * every // the slots before it are at rest
	stalled := begin + every/4
	released := func(at time.Duration) time.Duration {
		if at >= stalled && at < stalled+q.Stall {
			return stalled + q.Stall
		}
		return at
	}
	turn := q.Turn(0)
	free := make([]time.Duration, q.Slots) // when each slot's last exchange is complete
	var all []time.Duration
	for n := 0; time.Duration(n)*every < window; n++ {
		due, slot := time.Duration(n)*every, &free[n%q.Slots]
		*slot = released(released(max(due, *slot)+turn.Up) + turn.Down)
		all = append(all, *slot-due)
	}
	return all
}
