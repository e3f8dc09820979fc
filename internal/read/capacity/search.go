package capacity

import (
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// Try is a window at an offered rate: whether it met the objective.
type Try struct {
	ID      string  `json:"id"` // of the trial
	Block   int     `json:"block"`
	Rate    float64 `json:"rate"` // offered, per second
	Met     bool    `json:"met"`
	Value   float64 `json:"value,omitempty"` // of the objective's first metric; absent when the trial has none
	Why     string  `json:"why,omitempty"`   // it did not meet the objective
	Window  float64 `json:"window_s"`
	Seconds float64 `json:"seconds"` // that the trial took

	part   float64 // of the longest window
	client bool    // it was missed and the generator was at its own limit
}

// How far and how fast the search goes, as factors of rates.
const (
	first    = 0.7  // of the closed loop's rate: the first rate that is offered
	upwards  = 1.5  // from the highest rate, while it met the objective
	highest  = 4    // times the closed loop's rate, above which nothing is tried
	lowest   = 1e-3 // times it, below which nothing is tried
	beside   = 0.8  // of the spread: how far from the likeliest threshold a rate is tried, above and below in turn
	headroom = 1.5  // beyond the rates tried, where the threshold may lie
	enclosed = 1.35 // times the lower end of the interval: an upper end below it is near
	least    = 6    // outcomes without which nothing is said

	// leastMissed is how many windows must miss the objective, and none meet it, for a
	// server to carry nothing: if half of them met it, so many would miss it in 1 of 256.
	leastMissed = 8
)

// Confidence of every interval of a capacity.
const Confidence = stat.Confidence

// bracketed tells whether some rate missed the objective and some met it. In which order
// does not matter: single windows may go the other way.
func bracketed(tries []Try) (missed, met bool) {
	return slices.ContainsFunc(tries, func(t Try) bool { return !t.Met }), slices.ContainsFunc(tries, func(t Try) bool { return t.Met })
}

// extremes returns the least and the greatest rate that was tried.
func extremes(tries []Try) (low, high float64) {
	low, high = math.Inf(1), 0
	for _, t := range tries {
		low, high = min(low, t.Rate), max(high, t.Rate)
	}
	return low, high
}

// known returns what the outcomes say of the threshold; false before they enclose it.
func known(tries []Try) (posterior, bool) {
	if missed, met := bracketed(tries); !missed || !met {
		return posterior{}, false
	}
	low, high := extremes(tries)
	return posteriorOf(tries, math.Log(low/headroom), math.Log(high*headroom)), true
}

// nextRate returns the rate to try after some outcomes; false when there is none: every
// rate up to the highest met the objective. Most is the rate of the closed loop.
func nextRate(tries []Try, most float64) (rate float64, ok bool) {
	if len(tries) == 0 {
		return first * most, true
	}
	low, high := extremes(tries)
	switch missed, met := bracketed(tries); {
	case !missed:
		rate = high * upwards
		return rate, rate <= highest*most
	case !met:
		return low / math.Pow(2, float64(min(len(tries), 4))), true
	}
	p := posteriorOf(tries, math.Log(low/headroom), math.Log(high*headroom))
	side := beside
	if len(tries)%2 == 1 {
		side = -side
	}
	return math.Exp(p.quantile(0.5) + side*p.spread), true
}

// settled tells whether an interval is no wider than a share of its rate.
func settled(tries []Try, within float64) bool {
	p, ok := known(tries)
	if !ok || len(tries) < least {
		return false
	}
	e := p.capacityOf()
	return e.High-e.Low <= within*e.Point
}

// near tells whether the outcomes enclose the threshold so closely that the rest is
// noise: from here on windows are long.
func near(tries []Try) bool {
	p, ok := known(tries)
	if !ok {
		return false
	}
	e := p.interval()
	return e.High < enclosed*e.Low
}
