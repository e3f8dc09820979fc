package capacity

import (
	"fmt"
	"math"
	"time"

	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// Search is one search for a capacity: what is asked, what was tried, what comes next.
type Search struct {
	Spec           record.Capacity
	Window, Warmup time.Duration // the shortest
	Most           float64       // the rate of the closed loop
	Tries          []Try         // as they ran
	UsedS          float64       // that all trials took
}

// Step is the next window.
type Step struct {
	Rate           float64
	Window, Warmup time.Duration
}

// Add notes the outcome of a window.
func (s *Search) Add(t Try) {
	s.Tries = inParts(append(s.Tries, t))
	s.UsedS += t.Seconds
}

// Next returns the next window, or why there is none.
func (s *Search) Next() (step Step, why string) {
	switch {
	case settled(s.Tries, s.Spec.Within):
		return step, "is known closely enough"
	case len(s.Tries) > 0 && s.UsedS >= s.Spec.TimeS:
		return step, "has spent its time"
	}
	rate, more := nextRate(s.Tries, s.Most)
	if !more || s.exhausted() {
		return step, "has no rate left to try"
	}
	rate = max(rate, s.bottom())
	step.Rate = threeDigits(rate)
	step.Window, step.Warmup, _ = s.lengths(step.Rate, near(s.Tries))
	return step, ""
}

// bottom is the lowest rate that is tried.
func (s *Search) bottom() float64 { return max(s.floor(), lowest*s.Most) }

// exhausted tells whether nothing met the objective: enough windows missed it, down to
// the lowest rate.
func (s *Search) exhausted() bool {
	low, _ := extremes(s.Tries)
	_, met := bracketed(s.Tries)
	return !met && len(s.Tries) >= leastMissed && low <= roundedUp*s.bottom()
}

// roundedUp is how far three digits may lie above a rate.
const roundedUp = 1.01

// Found returns the capacity with its interval, or why there is none: the outcomes do not
// enclose one, or contradict each other.
func (s *Search) Found() (Estimate, string) {
	p, enclosed := known(s.Tries)
	if !enclosed {
		return Estimate{}, "no rates enclose it"
	}
	if why := undecided(s.Tries, p); why != "" {
		return Estimate{}, why
	}
	return estimateOf(p.capacityOf()), ""
}

// series is the search of one arm in one cell, with its trials.
type series struct {
	cells.Key
	Search
	closed *trial.Judged // the first trial, flat out; nil before it ran
	untold []Try         // windows that say nothing of the objective
	judged map[string]*trial.Judged

	directory string // of the run; "" when it is not known
}

// seriesOf parts a run's trials by arm and cell, in the study's order.
func seriesOf(s *cells.Dataset) []*series {
	var all []*series
	for at, judged := range s.Places() {
		one := newSeries(at, *s.Header.Study.Capacity, judged)
		one.directory = s.Header.Directory
		all = append(all, one)
	}
	return all
}

func newSeries(key cells.Key, spec record.Capacity, judged []*trial.Judged) *series {
	a := &series{Key: key, Search: Search{Spec: spec}, judged: map[string]*trial.Judged{}}
	a.Window, _ = quantity.ParseDuration(judged[0].Plan.Levels[windowFactor]) // block 1 runs as planned
	a.Warmup, _ = quantity.ParseDuration(judged[0].Plan.Levels[warmupFactor])
	for _, v := range judged {
		if v.Record == nil {
			continue
		}
		a.judged[v.Plan.ID] = v
		t, told := tryOf(spec.Objective, v)
		switch {
		case v.Plan.Levels[rateFactor] == flatOut:
			a.closed, a.Most = v, v.Trial.Values.At(metric.ExchangesPerS)
			a.UsedS += t.Seconds
		case told:
			a.Add(t)
		default:
			a.untold = append(a.untold, t)
			a.UsedS += t.Seconds
		}
	}
	return a
}

// tooSlow says that no window of an arm would hold enough exchanges.
func (a *series) tooSlow() string {
	return fmt.Sprintf("flat out it does %s/s, and below %s/s no window of this search's time holds the exchanges that the objective's percentile needs; a longer time allows for longer windows",
		rateText(a.Most), rateText(a.floor()))
}

// mostUntold bounds the windows of an arm that say nothing in a row.
const mostUntold = 4

// untoldInRow counts the latest windows that say nothing.
func (a *series) untoldInRow() (n int) {
	last := 0
	if len(a.Tries) > 0 {
		last = a.Tries[len(a.Tries)-1].Block
	}
	for _, t := range a.untold {
		if t.Block > last {
			n++
		}
	}
	return n
}

// step is the search's next window, or why there is none. Where windows say nothing at a
// rate, it goes around that: lower before any window met the objective, nearer to the
// highest that did while none missed it.
func (a *series) step() (Step, string) {
	step, why := a.Search.Next()
	n := a.untoldInRow()
	if why != "" || n == 0 {
		return step, why
	}
	_, high := extremes(a.Tries)
	switch missed, met := bracketed(a.Tries); {
	case missed && met:
		return step, ""
	case met:
		step.Rate = high * math.Pow(upwards, math.Pow(2, -float64(n)))
	default:
		step.Rate = max(a.bottom(), step.Rate*math.Pow(2, -float64(n)))
	}
	step.Rate = threeDigits(step.Rate)
	step.Window, step.Warmup, _ = a.lengths(step.Rate, near(a.Tries))
	return step, ""
}

// nextLevels returns the levels of an arm's next trial, or why it needs none.
func (a *series) nextLevels() (levels map[string]string, why string) {
	switch {
	case a.closed == nil:
		return nil, "has not run flat out"
	case !(a.Most > 0):
		return nil, "ended flat out without a rate: " + a.closed.Trial.Reason
	case a.Most < a.floor():
		return nil, a.tooSlow()
	case a.untoldInRow() >= mostUntold:
		return nil, "has no window that tells: " + a.untold[len(a.untold)-1].Why
	}
	step, why := a.step()
	if why != "" {
		return nil, why
	}
	return map[string]string{
		rateFactor: quantity.RateText(step.Rate), windowFactor: quantity.DurationText(step.Window), warmupFactor: quantity.DurationText(step.Warmup),
	}, ""
}
