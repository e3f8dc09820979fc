package search

import (
	"math"
	"slices"

	"netdyno/internal/read/stat"
)

// A window meets the objective with a probability that falls from near 1 to near 0
// around the capacity, as a logistic function of the logarithm of the rate. Where it
// falls (the threshold) is asked; how steeply (the spread, its standard deviation)
// depends on the server and on the window's length, and is unknown too.
const (
	// lapse is the share of windows that go the other way whatever the rate: something
	// disturbed the machine.
	lapse = 0.02
	// leastSpread and mostSpread bound the spread. Below the least one no interval would
	// allow for what the model leaves out; a server above the most has no threshold.
	leastSpread = 0.01
	mostSpread  = 0.40
	spreads     = 9
	thresholds  = 161
	logisticSD  = math.Pi / 1.7320508075688772 // of the standard logistic distribution
)

// posterior is what outcomes say of the threshold: a probability for each of some
// logarithms of rates, evenly spaced.
type posterior struct {
	low, step float64
	weights   []float64 // of the thresholds, summing to 1
	spread    float64   // its mean
	steep     []float64 // weights of the spreads, rising by spread
}

// posteriorOf weighs every threshold between two logarithms and every spread by the
// outcomes, from a prior that is flat in the logarithm of both. A second pass looks
// closer where the first found the threshold.
//
// Source: Kontsevich and Tyler, Bayesian adaptive estimation of psychometric slope
// and threshold, Vision Research 1999; Prins, The psi-marginal adaptive
// method, Journal of Vision 2013, which treats the slope as a nuisance.
func posteriorOf(tries []Try, low, high float64) posterior {
	p := weigh(tries, low, high)
	const outside = 1e-4
	from, to := p.quantile(outside), p.quantile(1-outside)
	return weigh(tries, max(low, from-p.step), min(high, to+p.step))
}

// inParts sets of each window which part of the longest it is: the figure of a shorter
// one scatters by the root more.
func inParts(tries []Try) []Try {
	tries = slices.Clone(tries)
	longest := 0.0
	for _, t := range tries {
		longest = max(longest, t.Window)
	}
	for i, t := range tries {
		tries[i].part = 1
		if longest > 0 && t.Window > 0 {
			tries[i].part = t.Window / longest
		}
	}
	return tries
}

func weigh(tries []Try, low, high float64) posterior {
	p := posterior{low: low, step: (high - low) / (thresholds - 1), weights: make([]float64, thresholds), steep: make([]float64, spreads)}
	joint := make([]float64, thresholds*spreads)
	for i := range joint {
		joint[i] = 1
	}
	for _, t := range tries {
		p.takeTry(joint, t)
	}
	total := 0.0
	for _, w := range joint {
		total += w
	}
	for j := range spreads {
		for i := range thresholds {
			w := joint[j*thresholds+i] / total
			p.weights[i] += w
			p.steep[j] += w
		}
		p.spread += p.steep[j] * spreadAt(j)
	}
	return p
}

// takeTry multiplies by the likelihood of one outcome, and keeps the largest weight at 1.
func (p *posterior) takeTry(joint []float64, t Try) {
	x, most, part := math.Log(t.Rate), 0.0, t.part
	if !(part > 0) {
		part = 1
	}
	for j := range spreads {
		scale := logisticSD / spreadAt(j) * math.Sqrt(part)
		for i := range thresholds {
			met := lapse + (1-2*lapse)/(1+math.Exp((x-p.rateAt(i))*scale))
			if !t.Met {
				met = 1 - met
			}
			joint[j*thresholds+i] *= met
			most = max(most, joint[j*thresholds+i])
		}
	}
	for i := range joint {
		joint[i] /= most
	}
}

func (p posterior) rateAt(i int) float64 { return p.low + float64(i)*p.step }

// spreadAt returns the spreads, evenly spaced by their logarithm.
func spreadAt(j int) float64 {
	return leastSpread * math.Pow(mostSpread/leastSpread, float64(j)/(spreads-1))
}

// quantile returns the logarithm of the rate below which the threshold lies with
// probability q.
func (p posterior) quantile(q float64) float64 {
	sum := 0.0
	for i, w := range p.weights {
		if sum+w >= q && w > 0 {
			return p.rateAt(i) + p.step*((q-sum)/w-0.5)
		}
		sum += w
	}
	return p.rateAt(len(p.weights) - 1)
}

// lean is by what share of its rate a window may read too high at the most. Its queue
// began empty, and the rare long waits that make a high percentile are missing from most
// windows, so that half of the windows meet an objective at a rate which an endless one
// would not. At the lengths that windows.go asks for, simulated queues lean by 0.5 to 2.5 %.
const lean = 0.025

// capacityOf returns the capacity that a threshold stands for: the median, and the
// central interval, both lower by what windows may lean.
func (p posterior) capacityOf() stat.Estimate {
	e := p.interval()
	e.Point, e.Low = e.Point*(1-lean/2), e.Low*(1-lean)
	return e
}

// interval returns the threshold as a rate: the median and the central interval.
func (p posterior) interval() stat.Estimate {
	const beyond = (1 - stat.Confidence) / 2
	return stat.Estimate{Point: math.Exp(p.quantile(0.5)), Low: math.Exp(p.quantile(beyond)), High: math.Exp(p.quantile(1 - beyond))}
}

// ratio returns the quotient of two thresholds that are known independently of each
// other, by the distribution of the difference of their logarithms.
func ratio(a, b posterior) stat.Estimate {
	const bins = 2000
	low := a.rateAt(0) - b.rateAt(len(b.weights)-1) - (a.step+b.step)/2
	high := a.rateAt(len(a.weights)-1) - b.rateAt(0) + (a.step+b.step)/2
	d := posterior{low: low, step: (high - low) / (bins - 1), weights: make([]float64, bins)}
	for i, x := range a.weights {
		for j, y := range b.weights {
			d.weights[int((a.rateAt(i)-b.rateAt(j)-low)/d.step+0.5)] += x * y
		}
	}
	e := d.interval()
	e.Point = math.Exp(a.quantile(0.5) - b.quantile(0.5)) // the quotient of the two that stand beside it
	e.Low, e.High = min(e.Low, e.Point), max(e.High, e.Point)
	return e
}

// Try is a window at an offered rate: whether it met the objective.
type Try struct {
	ID      string  `json:"id"` // of the trial
	Block   int     `json:"block"`
	Rate    float64 `json:"rate"` // offered, per second
	Met     bool    `json:"met"`
	Value   float64 `json:"value,omitempty"`  // of the objective's first metric; absent when the trial has none
	Untold  bool    `json:"untold,omitempty"` // the window says nothing of the objective: it is no evidence
	Why     string  `json:"why,omitempty"`    // it did not meet the objective, or says nothing
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
