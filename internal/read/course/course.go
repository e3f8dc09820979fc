// Package course tells of a load that went on in turns whether it was one thing: whether
// the server stood still for a while, whether it became faster or slower while it was
// measured, and whether its replies take one of two times. It returns numbers; Words puts
// them into a sentence. It is pure.
package course

import (
	"cmp"
	"slices"

	"netdyno/internal/hist"
)

// Level is the significance that a change needs, of all loads of a run together. It is half
// of the 1 % that is meant, as times with heavy tails err somewhat more often.
const Level = 0.005

// Load is what is known of the load of an arm in a cell.
type Load struct {
	Cell, Arm string
	Turns     []Turn
}

// Turn is a valid turn of a load, by its client's clock.
type Turn struct {
	Block          int
	Open           bool // an open loop: Times count from when a request was due
	Slots          int  // requests that may be under way at the same time; 0 where several clients share the load
	FromNs, ToNs   int64
	Ticks          []Tick      // those inside, and the last before
	Stood          [][2]int64  // when something of ours, or the machine, stood still
	PerS           float64     // replies; 0 too where the turn has no rate
	Rated          bool        // it has a rate
	Others         float64     // share of the CPUs' time that other processes took
	Late           int64       // requests that timed out, which Times have at the age that they reached
	Service, Times hist.Packed // from the send, and what a user waits; nil where there are none
}

// Tick is how many requests were answered by an instant.
type Tick struct{ AtNs, Done int64 }

// Course is what there is to say of a load; nil of what there is not.
type Course struct {
	Cell   string  `json:"cell,omitempty"`
	Arm    string  `json:"arm"`
	Still  *Still  `json:"stood_still,omitempty"`
	Change *Change `json:"change,omitempty"`
	Modes  *Modes  `json:"two_times,omitempty"`
}

// Of reads a load. It is tested for a change at a level of significance, which the loads of
// a run share out.
func Of(l Load, level float64) Course {
	slices.SortStableFunc(l.Turns, func(a, b Turn) int { return cmp.Compare(a.FromNs, b.FromNs) })
	c := Course{Cell: l.Cell, Arm: l.Arm, Still: stillOf(l), Change: changeOf(l, level)}
	if c.Still != nil { // who waited for the server to go on takes no time of its own
		return c
	}
	if c.Change != nil {
		l.Turns = slices.DeleteFunc(slices.Clone(l.Turns), func(t Turn) bool { return t.Block <= c.Change.CutBlock })
	}
	c.Modes = modesOf(l)
	return c
}

// Said tells whether there is anything to say.
func (c Course) Said() bool { return c.Still != nil || c.Change != nil || c.Modes != nil }

// Worst returns the sentences about the loads that weigh most, at most so many. Where there
// are several loads each names its own.
func Worst(all []Course, of func(Course) string, most int) []string {
	type sentence struct {
		weight float64
		text   string
	}
	var said []sentence
	for _, c := range all {
		name := of(c)
		if c.Still != nil {
			said = append(said, sentence{1 + c.Still.StoodS/c.Still.OfS, c.Still.Words(name)})
		}
		if c.Change != nil {
			said = append(said, sentence{1 + c.Change.weight(), c.Change.Words(name)})
		}
		if c.Modes != nil {
			said = append(said, sentence{c.Modes.Share, c.Modes.Words(name)})
		}
	}
	slices.SortStableFunc(said, func(a, b sentence) int { return cmp.Compare(b.weight, a.weight) })
	var texts []string
	for _, s := range said[:min(most, len(said))] {
		texts = append(texts, s.text)
	}
	return texts
}

// merged are the times of turns together.
func merged(turns []Turn, of func(Turn) hist.Packed) *hist.Histogram {
	all := make([]hist.Packed, len(turns))
	for i, t := range turns {
		all[i] = of(t)
	}
	return hist.Unpack(all...)
}

func service(t Turn) hist.Packed { return t.Service }
