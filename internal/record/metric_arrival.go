package record

import (
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
)

// arrivalMetrics are about what an open loop sent as it was declared, and what
// any client was left with at the end (METHOD §3.3, §3.5).
func arrivalMetrics() []Metric {
	return []Metric{
		{
			Name: "arrival_gap_cv", Unit: "1", Doc: "coefficient of variation of the gaps between sends",
			Formula: "standard deviation ÷ mean of the gaps between one client's consecutive sends, in a stretch from the window's opening; " +
				"of several clients that farthest from the declared process's (constant 0, poisson 1); open loop only",
			in: func(w *Window) (float64, bool) {
				a, ok := w.Arrivals()
				return a.CV, ok
			},
		},
		{
			Name: "unfinished", Unit: "1", Better: Lower, Doc: "number of exchanges left unfinished",
			Formula: "Σ clients: exchanges due in the window that were not complete when draining ended, those never sent included",
			in: func(w *Window) (float64, bool) {
				u, ok := w.Unfinished()
				return float64(u.Exchanges), ok
			},
		},
		{
			Name: "unfinished_age_max_us", Unit: "µs", Better: Lower, Doc: "age of the oldest unfinished exchange",
			Formula: "end of the draining − intended start, the largest over all clients; where any was left and its age told",
			in: func(w *Window) (float64, bool) {
				u, ok := w.Unfinished()
				if !ok || u.Ages == nil {
					return 0, false
				}
				return float64(u.Ages.MaxNs()) / nsPerUs, true
			},
		},
	}
}

// Arrivals is how the sends of one client came, as far as it kept them.
type Arrivals struct {
	Client  *Worker
	Process contract.Arrival // declared
	Gaps    float64          // number
	CV      float64          // standard deviation ÷ mean of the gaps
	StepNs  float64          // mean gap of the declared rate
}

// Arrivals returns the sends of the client that came farthest from the declared
// process: each has a schedule of its own, so that gaps over several say
// nothing. False for a closed loop and when a client does not tell.
func (w *Window) Arrivals() (farthest Arrivals, ok bool) {
	for _, g := range w.Generators() {
		a, known := g.arrivals()
		if !known {
			return Arrivals{}, false
		}
		if !ok || a.off() > farthest.off() {
			farthest, ok = a, true
		}
	}
	return farthest, ok
}

func (w *Worker) arrivals() (Arrivals, bool) {
	if w.Setup == nil || !(w.Setup.Load.Rate > 0) || w.Result == nil || w.Result.Arrivals == nil {
		return Arrivals{}, false
	}
	sums, load := w.Result.Arrivals, w.Setup.Load
	a := Arrivals{Client: w, Process: load.Arrival, Gaps: float64(sums.Gaps), StepNs: nsPerS / load.Rate}
	if a.Process == "" {
		a.Process = contract.Constant
	}
	mean := float64(sums.SumNs) / a.Gaps
	// Of an even rhythm the squares' rounding can leave less than nothing.
	a.CV = math.Sqrt(max(0, sums.SumSquaresNs2/a.Gaps/(mean*mean)-1))
	return a, a.Gaps > 0 && mean > 0 && !math.IsNaN(a.CV) && !math.IsInf(a.CV, 0)
}

// off is how far the gaps lie from those of the declared process.
func (a Arrivals) off() float64 {
	if a.Process == contract.Poisson {
		return math.Abs(a.CV - 1)
	}
	return a.CV
}

// Unfinished is what was due in the window and not complete when draining ended.
type Unfinished struct {
	Exchanges int64
	Ages      *hist.Histogram // since due, at the end of the draining; nil when there are none or a client does not tell
}

// Unfinished sums up over all clients; false when one left no result.
func (w *Window) Unfinished() (Unfinished, bool) {
	var u Unfinished
	generators, told := w.Generators(), true
	var ages *hist.Histogram // made when there is something in it: most trials leave nothing
	for _, g := range generators {
		if g.Result == nil || g.Result.Unfinished < 0 {
			return Unfinished{}, false
		}
		if g.Result.Unfinished == 0 && g.Result.Ages == "" {
			continue
		}
		u.Exchanges += g.Result.Unfinished
		h, err := hist.Decode(g.Result.Ages)
		if err != nil || h.Count() != g.Result.Unfinished {
			told = false
			continue
		}
		if ages == nil {
			ages = hist.New()
		}
		ages.Merge(h)
	}
	if told && ages != nil && ages.Count() > 0 {
		u.Ages = ages
	}
	return u, len(generators) > 0
}

// kindOfPercentiles are the times that the percentiles of a window are printed
// of and an unfinished exchange's age is one of, if it had ended then: from the
// intended start in an open loop, from the send in a closed one.
func (w *Window) kindOfPercentiles() string {
	if _, open := w.OfferedRate(); open {
		return Response
	}
	return Service
}

// Moved names the percentiles that the unfinished exchanges would move, by what
// each is at the least, in its metric's unit: with those exchanges counted at
// the age they had reached. Empty when there are none or nobody told their ages.
func (w *Window) Moved() map[string]float64 {
	u, ok := w.Unfinished()
	kind := w.kindOfPercentiles()
	h, timed := w.Histogram(kind)
	if !ok || u.Ages == nil || !timed {
		return nil
	}
	all := hist.New()
	all.Merge(h)
	all.Merge(u.Ages)
	moved := map[string]float64{}
	for _, q := range quantiles {
		without, printed := h.Percentile(q.share)
		with, _ := all.Percentile(q.share)
		if printed && float64(with) > movedBy*float64(without) {
			moved[kind+"_"+q.label+"_us"] = float64(with) / nsPerUs
		}
	}
	return moved
}

// movedBy is what a reader of three digits can see.
const movedBy = 1.01
