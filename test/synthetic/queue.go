package synthetic

import "math/rand/v2"

// Queue is a server of which the capacity is known: some servers with one queue in front
// of them, first come first served.
type Queue struct {
	Servers     int
	Service     float64 // seconds, the mean
	Exponential bool    // service times; else all are the same
	Poisson     bool    // arrivals; else evenly spaced
}

// Responses simulates a window that a warm-up precedes, both in seconds, from an empty
// queue: the response times of what was due in the window, in seconds.
func (q Queue) Responses(random *rand.Rand, rate, warmup, window float64) []float64 {
	free := make([]float64, max(1, q.Servers))
	responses := make([]float64, 0, int(rate*window)+1)
	for due := 0.0; due < warmup+window; {
		gap, service := 1/rate, q.Service
		if q.Poisson {
			gap *= random.ExpFloat64()
		}
		if q.Exponential {
			service *= random.ExpFloat64()
		}
		due += gap
		first := 0
		for i := range free {
			if free[i] < free[first] {
				first = i
			}
		}
		free[first] = max(due, free[first]) + service
		if due >= warmup {
			responses = append(responses, free[first]-due)
		}
	}
	return responses
}
