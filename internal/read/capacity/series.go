package capacity

import (
	"time"

	"netdyno/internal/quantity"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/trial"
	"netdyno/internal/record"
)

// series is what is known of one arm in one cell.
type series struct {
	cells.Key
	spec   record.Capacity
	closed *trial.Judged // the first trial, flat out; nil before it ran
	most   float64       // its rate
	tries  []Try
	untold []Try // windows that say nothing of the objective
	judged map[string]*trial.Judged
	used   float64 // seconds of all trials

	window, warmup time.Duration // as planned
}

// seriesOf parts a run's trials by arm and cell, in the study's order.
func seriesOf(s *cells.Dataset) []*series {
	var all []*series
	for _, cell := range s.Cells {
		for _, arm := range s.Arms {
			if judged := s.Of(cell, arm); len(judged) > 0 {
				all = append(all, newSeries(cells.KeyOf(cell, arm), *s.Header.Study.Capacity, judged))
			}
		}
	}
	return all
}

func newSeries(key cells.Key, spec record.Capacity, judged []*trial.Judged) *series {
	a := &series{Key: key, spec: spec, judged: map[string]*trial.Judged{}}
	a.window, _ = quantity.ParseDuration(judged[0].Plan.Levels[windowFactor])
	a.warmup, _ = quantity.ParseDuration(judged[0].Plan.Levels[warmupFactor])
	for _, v := range judged {
		if v.Record == nil {
			continue
		}
		a.judged[v.Plan.ID] = v
		t, told := tryOf(spec.Objective, v)
		a.used += t.Seconds
		switch {
		case v.Plan.Levels[rateFactor] == flatOut:
			a.closed, a.most = v, v.Trial.Values["exchanges_per_s"]
		case told:
			a.tries = append(a.tries, t)
		default:
			a.untold = append(a.untold, t)
		}
	}
	a.tries = inParts(a.tries)
	return a
}

// mostUntold bounds the windows of an arm that say nothing in a row.
const mostUntold = 4

// over says why an arm needs no further window; "" when it does.
func (a *series) over() string {
	last := len(a.untold) - mostUntold
	switch {
	case a.closed == nil:
		return "has not run flat out"
	case !(a.most > 0):
		return "ended flat out without a rate: " + a.closed.Trial.Reason
	case last >= 0 && (len(a.tries) == 0 || a.untold[last].Block > a.tries[len(a.tries)-1].Block):
		return "has no window that tells: " + a.untold[len(a.untold)-1].Why
	case settled(a.tries, a.spec.Within):
		return "is known closely enough"
	case len(a.tries) > 0 && a.used >= a.spec.TimeS:
		return "has spent its time"
	}
	if _, more := next(a.tries, a.most); !more {
		return "has no rate left to try"
	}
	return ""
}

// levels are those of an arm's next trial.
func (a *series) levels() map[string]string {
	rate, _ := next(a.tries, a.most)
	rate = threeDigits(rate)
	window, warmup, _ := lengths(a.spec, a.window, a.warmup, a.most, rate, near(a.tries))
	return map[string]string{
		rateFactor: quantity.RateText(rate), windowFactor: quantity.DurationText(window), warmupFactor: quantity.DurationText(warmup),
	}
}
