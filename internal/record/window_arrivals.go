package record

import (
	"math"

	"netdyno/internal/contract"
)

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
