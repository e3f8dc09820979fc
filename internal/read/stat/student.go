package stat

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/mathext"
)

// studentsT is Student's t distribution, by the incomplete beta function: of it
// alone, because gonum's stat/distuv brings matrices that make 2 MB of a program.
//
// Source: Abramowitz and Stegun, Handbook of Mathematical Functions, 26.7.1.
type studentsT struct {
	degrees float64 // of freedom, above 0
}

// quantile returns the value below which a share p lies, 0 < p < 1. Any goroutine
// may call it.
func (t studentsT) quantile(p float64) float64 {
	if p == 0.5 {
		return 0
	}
	// The figures of a run have few numbers of blocks and few levels among them, and
	// inverting takes longer than all else of an interval.
	whole := t.degrees == math.Trunc(t.degrees) && t.degrees <= mostKnown
	if known, ok := quantiles.Load(ofT{t.degrees, p}); whole && ok {
		return known.(float64)
	}
	x := mathext.InvRegIncBeta(t.degrees/2, 0.5, 2*min(p, 1-p))
	q := math.Copysign(math.Sqrt(t.degrees*(1-x)/x), p-0.5)
	if whole {
		quantiles.Store(ofT{t.degrees, p}, q)
	}
	return q
}

// mostKnown bounds what quantiles keeps: a study has at most some levels.
const mostKnown = 1000

// quantiles are those computed so far.
var quantiles sync.Map // float64 by ofT

type ofT struct{ degrees, p float64 }

// survival returns the share above x.
func (t studentsT) survival(x float64) float64 {
	beyond := 0.5 * mathext.RegIncBeta(t.degrees/2, 0.5, t.degrees/(x*x+t.degrees))
	if x < 0 {
		return 1 - beyond
	}
	return beyond
}
