// Package pays weighs a replacement: what the CPU time is worth that some arms save over
// others which move the same work. It is pure.
package pays

import (
	"cmp"
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/compare"
	"netdyno/internal/read/stat"
	"netdyno/internal/read/trial"
	"netdyno/internal/read/view"
	"netdyno/internal/record"
)

// Pays weighs a replacement: in each cell, the cheapest arm that has the replacement
// against the cheapest arm that would be replaced, by the CPU time of both ends per GB.
// Reason says why nothing is weighed.
type Pays struct {
	Spec     record.Pays `json:"spec"`
	Cells    []Weighed   `json:"cells,omitempty"` // in the study's order
	Sentence string      `json:"sentence,omitempty"`
	Reason   string      `json:"reason,omitempty"`
}

// Replacements are what a study weighs.
type Replacements []Pays

// Relative is a ratio within blocks with its 95 % interval; zero where fewer than two
// blocks have both figures.
type Relative struct {
	Value  float64 `json:"value"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Blocks int     `json:"blocks"`
}

// leastBlocks is the number of blocks from which a figure has an interval.
const leastBlocks = 2

// Weighed is a replacement in one cell.
type Weighed struct {
	Cell  string   `json:"cell"`
	Arm   Weighted `json:"arm"`
	Base  Weighted `json:"base"`
	Ratio Relative `json:"ratio"` // of their CPU per GB
	// Speed is at which speed the link is full, in bytes per second: the rate of the
	// link where the study sets or the card tells it, else what the faster of the two
	// brought over it.
	Speed   float64       `json:"speed"`
	Nominal bool          `json:"nominal,omitempty"` // Speed is the link's rate
	Cores   stat.Estimate `json:"cores"`             // saved at that speed; below 0 where it costs more
}

// Weighted is one side of a replacement.
type Weighted struct {
	Arm     string       `json:"arm"`
	CPU     cells.Figure `json:"cpu"`     // s/GB of both ends
	Goodput cells.Figure `json:"goodput"` // bytes/s
}

const (
	bytesPerGB  = 1e9
	bitsPerByte = 8
)

// Read weighs the replacements of a study, by valid trials alone.
func Read(s *cells.Dataset) Replacements {
	var all Replacements
	for _, spec := range s.Header.Study.Pays {
		p := Pays{Spec: spec}
		if p.Reason = spec.Unmeasured; p.Reason == "" {
			p.Reason = p.weigh(s)
		}
		p.Sentence = p.sentence(s.Header.Study)
		all = append(all, p)
	}
	return all
}

// weigh fills in the cells, or returns why there are none.
func (p *Pays) weigh(s *cells.Dataset) string {
	for _, side := range [][]string{p.Spec.Arms, p.Spec.InsteadOf} {
		if _, why := view.Where(s, view.Scope{Levels: p.Spec.Where, Arms: side}); why != "" {
			return cmp.Or(refusal(s, side), why)
		}
	}
	judged, _ := view.Where(s, view.Scope{Levels: p.Spec.Where})
	var order []string
	at := map[string]*sides{}
	for _, v := range judged {
		key := cells.KeyOf(v.Plan.Cell, v.Plan.Arm)
		if at[key.Cell] == nil {
			at[key.Cell], order = &sides{}, append(order, key.Cell)
		}
		at[key.Cell].addTrial(v)
	}
	for _, cell := range order {
		if w, ok := at[cell].weigh(s, p.Spec); ok {
			w.Cell = cell
			p.Cells = append(p.Cells, w)
		}
	}
	if len(p.Cells) == 0 {
		return "no cell has two blocks with the CPU of both ends on either side"
	}
	return ""
}

// refusal returns the reason that the first unsupported or failed trial of the arms
// gives; "" where none has one.
func refusal(s *cells.Dataset, arms []string) string {
	for _, v := range s.Trials {
		switch {
		case !slices.Contains(arms, v.Plan.Arm) || v.Trial.Reason == "":
		case v.Record != nil && v.Record.Failure != nil:
			return cells.ArmLabel(s.Header.Study, v.Plan.Arm) + ": " + v.Record.Failure.Text
		default:
			return cells.ArmLabel(s.Header.Study, v.Plan.Arm) + ": " + v.Trial.Reason
		}
	}
	return ""
}

// sides are the arms of one cell with their figures by block.
type sides struct{ arms []*weighing }

type weighing struct {
	name         string
	trials       []*trial.Judged
	cpu, goodput cells.Pool
}

// addTrial enters a trial that has the CPU of both ends.
func (c *sides) addTrial(v *trial.Judged) {
	cpu, ok := cells.OfBothEnds(&v.Trial, metric.CPUPerGB)
	if !ok {
		return
	}
	i := slices.IndexFunc(c.arms, func(a *weighing) bool { return a.name == v.Plan.Arm })
	if i < 0 {
		i, c.arms = len(c.arms), append(c.arms, &weighing{name: v.Plan.Arm})
	}
	a := c.arms[i]
	a.trials = append(a.trials, v)
	a.cpu.Add(v.Plan.Block, cpu)
	a.goodput.Add(v.Plan.Block, v.Trial.Values.At(metric.Goodput))
}

// weigh compares the cheapest arm of each side; false where a side has none.
func (c *sides) weigh(s *cells.Dataset, spec record.Pays) (Weighed, bool) {
	arm, base := c.cheapest(spec.Arms), c.cheapest(spec.InsteadOf)
	if arm == nil || base == nil {
		return Weighed{}, false
	}
	w := Weighed{Arm: arm.weighted(), Base: base.weighted(), Ratio: relative(&arm.cpu, &base.cpu)}
	w.Speed = max(w.Arm.Goodput.Value, w.Base.Goodput.Value)
	if rate, ok := s.LinkRate(base.trials); ok {
		if bits, ok := view.NumberOf(rate); ok {
			w.Speed, w.Nominal = bits/bitsPerByte, true
		}
	}
	if spec.At > 0 {
		w.Speed, w.Nominal = float64(spec.At)/bitsPerByte, false
	}
	var saved, needed []float64
	for _, block := range arm.cpu.Rising() {
		x, ok := arm.cpu.Log(block)
		y, both := base.cpu.Log(block)
		if ok && both {
			saved, needed = append(saved, y), append(needed, x)
		}
	}
	perGB, ok := stat.DifferenceOfMeans(saved, needed, 1-stat.Confidence)
	perSecond := w.Speed / bytesPerGB
	w.Cores = stat.Estimate{Point: perGB.Point * perSecond, Low: perGB.Low * perSecond, High: perGB.High * perSecond}
	return w, ok && w.Ratio.Blocks > 0 && !math.IsNaN(w.Cores.Low+w.Cores.High)
}

// cheapest returns the arm of a side that takes the least CPU per GB, of those with
// two blocks or more; nil for none.
func (c *sides) cheapest(names []string) *weighing {
	var best *weighing
	least := math.Inf(1)
	for _, a := range c.arms {
		f, ok := a.cpu.Figure()
		if ok && slices.Contains(names, a.name) && a.cpu.Count() >= leastBlocks && f.Value < least {
			best, least = a, f.Value
		}
	}
	return best
}

func (a *weighing) weighted() Weighted {
	w := Weighted{Arm: a.name}
	w.CPU, _ = a.cpu.Figure() // it has blocks
	w.Goodput, _ = a.goodput.Figure()
	return w
}

func relative(a, b *cells.Pool) Relative {
	p := compare.Divide(a, b)
	e, ok := p.Estimate()
	if !ok {
		return Relative{}
	}
	return Relative{Value: e.Point, Low: e.Low, High: e.High, Blocks: len(p.Ratios)}
}
