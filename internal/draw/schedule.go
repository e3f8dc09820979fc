package draw

import (
	"fmt"
	"math"
	"sort"

	"netdyno/internal/contract"
)

// Bounds of a load's phases.
const (
	MostPhases  = 4096
	mostPhaseNs = 1e15
	mostRate    = 1e9 // exchanges per second
)

// CheckPhases reports what is wrong with the phases of a load; nil for none and for good
// ones.
func CheckPhases(phases []contract.Phase) error {
	if len(phases) > MostPhases {
		return fmt.Errorf("%d phases, expected at most %d", len(phases), MostPhases)
	}
	some := len(phases) == 0
	for i, p := range phases {
		switch {
		case !(p[0] >= 1 && p[0] <= mostPhaseNs) || p[0] != math.Trunc(p[0]):
			return fmt.Errorf("phase %d lasts %v ns, expected a whole number from 1 to 1e15", i, p[0])
		case !(p[1] >= 0 && p[1] <= mostRate && p[2] >= 0 && p[2] <= mostRate):
			return fmt.Errorf("phase %d goes from %v to %v exchanges per second, expected 0 to 1e9", i, p[1], p[2])
		}
		some = some || p[1] > 0 || p[2] > 0
	}
	if !some {
		return fmt.Errorf("no phase has a rate above 0")
	}
	return nil
}

// Warp turns places in a schedule, counted in exchanges, into times: a rate that changes
// by phases. It never changes.
type Warp struct {
	phases []phase
	repeat bool
	all    float64 // exchanges of all phases
	lasts  float64 // ns of all phases
	lastOf int     // the last phase that holds any exchange
}

type phase struct {
	from, lasts   float64 // ns
	before, holds float64 // exchanges
	first, last   float64 // rates, per second
}

// NewWarp returns the warp of phases that CheckPhases passes; nil for none.
func NewWarp(phases []contract.Phase, repeat bool) *Warp {
	if len(phases) == 0 {
		return nil
	}
	w := &Warp{repeat: repeat}
	for _, p := range phases {
		holds := p.Holds()
		if holds > 0 {
			w.lastOf = len(w.phases)
		}
		w.phases = append(w.phases, phase{w.lasts, p[0], w.all, holds, p[1], p[2]})
		w.all, w.lasts = float64(w.all+holds), float64(w.lasts+p[0])
	}
	return w
}

// Never is when an exchange is due that no phase has room for, in ns.
const Never = math.MaxInt64 / 4

// DueNs returns when the place x is reached, in ns after the start. Each operation rounds
// by itself: the conversions keep compilers from fusing two.
func (w *Warp) DueNs(x float64) int64 {
	base := 0.0
	if rounds := math.Floor(x / w.all); w.repeat {
		x, base = max(0, x-float64(rounds*w.all)), float64(rounds*w.lasts)
	} else if x >= w.all {
		p := w.phases[len(w.phases)-1]
		if p.last <= 0 {
			return Never
		}
		return clip(w.lasts + float64((x-w.all)/p.last)*1e9)
	}
	p := w.phases[w.find(x)]
	y := x - p.before
	slope := (p.last - p.first) / float64(p.lasts/1e9)
	root := math.Sqrt(max(0, float64(p.first*p.first)+float64(float64(2*slope)*y)))
	seconds := float64(2*y) / (p.first + root)
	return clip(float64(base+p.from) + min(p.lasts, float64(seconds*1e9)))
}

// Place returns how many exchanges the rates make until an instant, in ns after the start.
func (w *Warp) Place(ns float64) float64 {
	base := 0.0
	if rounds := math.Floor(ns / w.lasts); w.repeat {
		ns, base = ns-rounds*w.lasts, rounds*w.all
	} else if ns >= w.lasts {
		return w.all + (ns-w.lasts)/1e9*w.phases[len(w.phases)-1].last
	}
	for _, p := range w.phases {
		if in := ns - p.from; in < p.lasts {
			return base + p.before + in/1e9*(p.first+(p.last-p.first)*in/p.lasts/2)
		}
	}
	return base + w.all
}

// find returns the phase that holds place x: the first that ends beyond it, else the last
// that has any.
func (w *Warp) find(x float64) int {
	i := sort.Search(len(w.phases), func(i int) bool { return x < float64(w.phases[i].before+w.phases[i].holds) })
	if i == len(w.phases) {
		return w.lastOf
	}
	return i
}

// Peak returns the highest rate of any phase, per second.
func (w *Warp) Peak() float64 {
	peak := 0.0
	for _, p := range w.phases {
		peak = max(peak, p.first, p.last)
	}
	return peak
}

func clip(ns float64) int64 {
	if !(ns < Never) {
		return Never
	}
	return int64(ns)
}

// CycleGaps is after how many gaps those of arrival drawn come again.
const CycleGaps = 1 << 16

// GapUnit is the mean gap in the unit of a table of gaps.
const GapUnit = 1 << 20

// MostGap bounds a gap of a table, in GapUnits: a thousand mean gaps.
const MostGap = 1000 * GapUnit

// Cycle are the places of drawn arrivals. It never changes.
type Cycle struct {
	ends  []int64 // sums of the gaps
	scale float64 // exchanges for each unit
}

// NewCycle draws the gaps of a table that Check(MostGap) passes. The error says that the
// table has none above 0.
func NewCycle(gaps contract.Table, seed uint64) (*Cycle, error) {
	d, c := NewDrawer(gaps, seed, Gaps), &Cycle{ends: make([]int64, CycleGaps)}
	sum := int64(0)
	for i := range c.ends {
		sum += d.Draw(uint64(i))
		c.ends[i] = sum
	}
	if sum == 0 {
		return nil, fmt.Errorf("every gap is 0")
	}
	c.scale = CycleGaps / float64(sum)
	return c, nil
}

// Place returns the place of arrival number m, in exchanges.
func (c *Cycle) Place(m uint64) float64 {
	return float64(m/CycleGaps*CycleGaps) + float64(float64(c.ends[m%CycleGaps])*c.scale)
}
