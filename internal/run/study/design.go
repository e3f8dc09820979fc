package study

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/each"
	"netdyno/internal/record"
)

// design is one factorial design: every combination of its varied levels is run.
type design struct {
	hold     []Setting
	vary     []Varied
	bundles  []Arm   // every arm of the study, with the levels that it has here
	arms     []Arm   // those of them that run here; the baseline runs besides
	compared string  // the factor whose levels are compared
	mesh     bool    // a cell whose two hosts are one is left out,
	ways     *sample // and one whose way is not measured
	at       Position
}

// choices returns every level that a factor can have in the trials of one
// arm; nil for a factor without level. The arm is nil when none is bundled.
func (d *design) choices(arm *Arm, factor string) []Level {
	if arm != nil {
		if l, ok := Find(arm.Settings, factor); ok {
			return []Level{l}
		}
	}
	if v := FindVaried(d.vary, factor); v != nil {
		return v.Levels
	}
	if l, ok := Find(d.hold, factor); ok {
		return []Level{l}
	}
	if factor == "codec" {
		if message := d.choices(arm, "message"); message != nil {
			return []Level{impliedCodec(message[0])}
		}
	}
	if f, err := FactorNamed(factor); err == nil && f.inTrial() {
		return []Level{f.standard()}
	}
	return nil
}

// trialLevels returns the levels that a factor has in an arm's trials. The
// ends of a transport are the transport.
func (d *design) trialLevels(arm *Arm, factor string) []Level {
	levels := d.choices(arm, factor)
	if levels == nil && (factor == "server" || factor == "client") {
		levels = d.choices(arm, "transport")
	}
	return levels
}

// armsOrNone returns every bundled arm, or one nil when none is bundled.
func (d *design) armsOrNone() []*Arm {
	if len(d.arms) == 0 {
		return []*Arm{nil}
	}
	arms := make([]*Arm, len(d.arms))
	for i := range d.arms {
		arms[i] = &d.arms[i]
	}
	return arms
}

// comparedLevels returns the compared factor with its levels; a factor that is only held
// has one level.
func (d *design) comparedLevels() Varied {
	if v := FindVaried(d.vary, d.compared); v != nil {
		return *v
	}
	return Varied{Factor: d.compared, Levels: d.choices(nil, d.compared)}
}

// crossed returns the factors that a design varies beside the compared one.
func (d *design) crossed() []Varied {
	var crossed []Varied
	for _, v := range d.vary {
		if v.Factor != d.compared {
			crossed = append(crossed, v)
		}
	}
	return crossed
}

// follows are the factors that settle decides by others.
var follows = map[string][]string{
	"server": {"transport"}, "client": {"transport"}, "window": {"amount", "arrival"}, "rate": {"arrival"},
	"codec": {"message"}, "request": {"codec", "message"}, "response": {"codec", "message"}, "chunk": {"stream"}, "every": {"stream"},
}

// levelsIn returns the levels that a factor has in a design's cells; none for
// one that the design leaves out, and for a default that settle takes away.
func (d *design) levelsIn(factor string) []Level {
	levels := d.choices(nil, factor)
	if len(levels) != 1 || explicit(levels[0]) {
		return levels
	}
	settled := defaults()
	for _, source := range follows[factor] {
		if by := d.choices(nil, source); len(by) > 0 {
			settled[source] = by[0]
		}
	}
	settle(settled)
	if l, remains := settled[factor]; !remains || l.Text != levels[0].Text {
		return nil
	}
	return levels
}

// eachCell visits the cells of a design. The settings are valid during the
// call only.
func (d *design) eachCell(visit func(cell []Setting)) {
	factors := d.crossed()
	cell := make([]Setting, len(factors))
	var walk func(depth int)
	walk = func(depth int) {
		if depth == len(factors) {
			if !d.mesh || !ofOneHost(cell) && d.ways.has(cell) {
				visit(cell)
			}
			return
		}
		for _, l := range factors[depth].Levels {
			cell[depth] = Setting{Factor: factors[depth].Factor, Level: l}
			walk(depth + 1)
		}
	}
	walk(0)
}

// unfold returns every level of a trial in canonical text: of a cell of this
// design and one level of the compared factor, which may be a baseline that this design
// does not name.
func (d *design) unfold(cell []Setting, compared Level) map[string]string {
	levels := defaults()
	for _, h := range d.hold {
		set(levels, h.Factor, h.Level)
	}
	bundled := func(factor string, l Level) {
		if factor != ArmFactor {
			set(levels, factor, l)
			return
		}
		if a := d.bundle(l.Text); a != nil {
			for _, x := range a.Settings {
				set(levels, x.Factor, x.Level)
			}
		}
	}
	for _, c := range cell {
		bundled(c.Factor, c.Level)
	}
	bundled(d.compared, compared)
	settle(levels)
	texts := make(map[string]string, len(levels))
	for factor, l := range levels {
		texts[factor] = l.Text
	}
	return texts
}

// meets reports whether an arm has a trial in this design at these levels.
func (d *design) meets(arm *Arm, where map[string]string) bool {
	for factor, text := range where {
		if !hasText(d.trialLevels(arm, factor), text) {
			return false
		}
	}
	return true
}

// product prints the factors of a cross product: "3 arm × 10 connections".
func (d *design) product() string {
	parts := each.Of(d.vary, func(v Varied) string { return fmt.Sprintf("%d %s", len(v.Levels), v.Factor) })
	if len(parts) == 0 {
		return "1"
	}
	return strings.Join(parts, " × ")
}

func factorOf(v Varied) record.Factor {
	return record.Factor{Name: v.Factor, Levels: textsOf(v.Levels)}
}

// allLevels returns the levels of a factor over all trials of some designs.
func allLevels(designs []*design, factor string) []Level {
	var all []Level
	for _, d := range designs {
		for _, arm := range d.armsOrNone() {
			for _, l := range d.trialLevels(arm, factor) {
				if !hasText(all, l.Text) {
					all = append(all, l)
				}
			}
		}
	}
	return all
}

// loops reports whether any trial runs a closed loop and any an open one.
func loops(designs []*design) (closed, open bool) {
	rates := allLevels(designs, "rate")
	open = slices.ContainsFunc(rates, positive)
	closed = slices.ContainsFunc(rates, func(l Level) bool { return !positive(l) })
	ownRates := func(l Level) bool { return positive(l) || fromFile(l) }
	if own := allLevels(designs, "arrival"); slices.ContainsFunc(own, ownRates) {
		open = true
		closed = closed && slices.ContainsFunc(own, func(l Level) bool { return !ownRates(l) })
	}
	return closed, open
}

// checkArrival refuses an arrival process, or a pace, that no trial would follow.
func checkArrival(designs []*design) error {
	if _, open := loops(designs); open {
		return nil
	}
	for _, d := range designs {
		for _, arm := range d.armsOrNone() {
			for _, of := range [...]struct{ factor, lacks string }{{"arrival", "arrival process"}, {PaceFactor, "pace: it sends as soon as it is answered"}} {
				for _, l := range d.choices(arm, of.factor) {
					if explicit(l) {
						return Errorf(l.At, "%s=%s contradicts rate=%s (%s): a closed loop has no %s",
							of.factor, l.Text, unbounded, where(d.choices(arm, "rate")[0].At), of.lacks)
					}
				}
			}
		}
	}
	return nil
}

// number is how many cells the design has, at most one more than a bound.
func (d *design) number(bound int) int {
	cells := 1
	if d.ways != nil {
		cells = len(d.ways.ways)
	}
	for _, v := range d.crossed() {
		if d.ways == nil || v.Factor != ServerHost && v.Factor != ClientHost {
			cells *= len(v.Levels)
		}
		if cells > bound {
			return bound + 1
		}
	}
	return cells
}
