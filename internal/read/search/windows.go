package search

import (
	"math"
	"strings"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// How long a window must be, in multiples of the time T that the objective allows. A
// percentile q near saturation is made of rare long waits, of which a window holds in
// proportion to (1 − q) of its length in T. Where the allowed wait is short against the
// service (T times the rate is small), the queue is far from full at the capacity and its
// percentile changes slowly with the rate, so that windows must be longer. Measured by
// simulating M/M/1 queues: with these lengths half of the windows meet the objective at
// a rate that is 0.5 to 2.5 % above the capacity.
const (
	mostAllowed   = 400    // T, for the 99th percentile
	leastAllowed  = 60     // T: a server above its capacity is found out when its queue had time to grow
	perAllowed    = 25_000 // T, divided by how many exchanges fit into one T
	warmupShare   = 0.2    // of the window
	spareExchange = 1.3    // times those that a percentile needs
	mostShare     = 1. / 15
	farShare      = 1. / 4 // of the window, while the rates are far from the capacity
)

// lengths returns the window and the warm-up for a rate. Short says that the time of the
// search does not allow for the window that the objective needs.
func (s *RateSearch) lengths(rate float64, isNear bool) (window, warmup time.Duration, short bool) {
	seconds := 0.0
	for _, b := range s.Spec.Objective {
		seconds = max(seconds, needed(b, s.Most))
	}
	if !isNear {
		seconds *= farShare
	}
	for _, b := range s.Spec.Objective {
		seconds = max(seconds, spareExchange*float64(metric.Shown(b.Metric).Least)/rate)
	}
	if most := s.Spec.TimeS * mostShare; seconds > most {
		short, seconds = true, most
	}
	window = max(s.Window, rounded(seconds))
	return window, max(s.Warmup, rounded(warmupShare*window.Seconds())), short
}

// rounded is a duration in tens of milliseconds.
func rounded(seconds float64) time.Duration {
	return time.Duration(math.Ceil(seconds*100)) * (10 * time.Millisecond)
}

// needed returns how long a window must be for one bound, in seconds; 0 for a bound on
// anything but a time.
func needed(b record.Bound, most float64) float64 {
	name, found := strings.CutSuffix(b.Metric, "_us")
	if !found || b.AtLeast || !strings.HasPrefix(name, record.Response+"_") && !strings.HasPrefix(name, record.Service+"_") {
		return 0
	}
	beyond := 0.5
	for _, p := range metric.Percentiles {
		if strings.HasSuffix(name, "_"+p.Name) {
			beyond = 1 - p.Share
		}
	}
	allowed := b.Value / 1e6
	asHigh := math.Log(1/beyond) / math.Log(100) // as far out as a 99th percentile is 1
	times := perAllowed / (allowed * most / asHigh)
	return allowed * max(leastAllowed, min(mostAllowed, times)*0.01/beyond)
}

// floor is the rate below which no window holds the exchanges that the objective's
// percentiles need.
func (s *RateSearch) floor() float64 {
	least := 0.0
	for _, b := range s.Spec.Objective {
		least = max(least, spareExchange*float64(metric.Shown(b.Metric).Least)/(s.Spec.TimeS*mostShare))
	}
	return least
}
