package profile

import (
	"cmp"
	"maps"
	"slices"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/record"
)

// Flame is the CPU time of one end of an arm by its stacks, all probes together:
// what a flame graph shows.
type Flame struct {
	Cell, Arm, End string
	Source         Source
	Metric         string  // that the frames divide up, and their unit; "" where they are shares
	Whole          float64 // all frames at depth 0
	Frames         []Frame // each before those that it called, siblings by falling cost
}

// Frame is a function as called by the frames above it.
type Frame struct {
	Depth    int     // 0 for those that nothing called
	Name     string  // "" of an elided one
	Cost     float64 // of its own and of what it called
	Activity int     // in which most of that was spent, of Activities
	Elided   bool    // it stands for callees that are each too small to be seen
}

// seen is the share of the whole below which frames are drawn as one.
const seen = 0.001

// Flames builds a flame for each cell, arm and end that has a profile, in the
// study's order.
func Flames(s *cells.Dataset) []Flame {
	var all []Flame
	probes, _ := fit(s)
	for at := range s.Places() {
		for _, end := range ends {
			of, source, _ := readProfiles(probes[at], end) // what cannot be read is named where profiles are summed up
			if f, ok := flameOf(of, end, dividable(s)); ok {
				f.Cell, f.Arm, f.End, f.Source = at.Cell, at.Arm, string(end), source
				all = append(all, f)
			}
		}
	}
	return all
}

// flameOf adds the stacks of an end up over probes, each weighed by what the meter
// counted for it per unit of work, the first of names that they have, or where it counted
// nothing as shares.
func flameOf(probes []probe, end contract.Role, names []string) (Flame, bool) {
	if len(probes) == 0 {
		return Flame{}, false
	}
	for _, name := range names {
		m, err := metric.Named(string(end) + "." + name)
		if err != nil {
			continue
		}
		if f, ok := grow(probes, m.Value); ok {
			f.Metric = m.Name
			return f, true
		}
	}
	return grow(probes, nil)
}

// node is a frame while stacks are added.
type node struct {
	name     string
	cost     float64
	activity []float64
	callees  map[string]*node
}

func newNode(name string) *node {
	return &node{name: name, activity: make([]float64, len(classes)), callees: map[string]*node{}}
}

func (n *node) callee(name string) *node {
	c := n.callees[name]
	if c == nil {
		c = newNode(name)
		n.callees[name] = c
	}
	return c
}

// maxDepth bounds a stack: what is deeper counts for the frame there.
const maxDepth = 200

// grow builds the tree of all probes that have a value; nil weighs them equally.
func grow(probes []probe, value func(*record.Record) (float64, bool)) (Flame, bool) {
	root := newNode("")
	used := 0
	for _, p := range probes {
		whole, ok := 1.0, true
		if value != nil {
			whole, ok = value(p.Record)
		}
		t := newSampled(false)
		t.stacks = map[string]*stack{}
		t.addProbe(p)
		if p.partial || !ok || !(whole > 0) || t.whole <= 0 {
			continue
		}
		used++
		for _, key := range slices.Sorted(maps.Keys(t.stacks)) { // sums of floats depend on their order
			st := t.stacks[key]
			root.addCost(st, st.ns*whole/t.whole)
		}
	}
	if used == 0 {
		return Flame{}, false
	}
	f := Flame{Whole: root.cost / float64(used)}
	f.Frames = root.frames(nil, 0, root.cost*seen, 1/float64(used))
	return f, true
}

// addCost adds a stack, of which the executing function is first.
func (n *node) addCost(st *stack, cost float64) {
	n.cost += cost
	at := n
	for i := len(st.functions) - 1; i >= 0 && len(st.functions)-i <= maxDepth; i-- {
		at = at.callee(st.functions[i])
		at.cost += cost
		at.activity[st.activity] += cost
	}
}

// frames lists what a node called.
func (n *node) frames(all []Frame, depth int, least, scale float64) []Frame {
	callees := slices.SortedFunc(maps.Values(n.callees), func(a, b *node) int {
		return cmp.Or(cmp.Compare(b.cost, a.cost), cmp.Compare(a.name, b.name))
	})
	for i, c := range callees {
		if c.cost < least {
			return append(all, elided(callees[i:], depth, scale))
		}
		all = append(all, Frame{Depth: depth, Name: c.name, Cost: c.cost * scale, Activity: most(c.activity)})
		all = c.frames(all, depth+1, least, scale)
	}
	return all
}

func elided(callees []*node, depth int, scale float64) Frame {
	f := Frame{Depth: depth, Elided: true}
	activity := make([]float64, len(classes))
	for _, c := range callees {
		f.Cost += c.cost * scale
		for i, cost := range c.activity {
			activity[i] += cost
		}
	}
	f.Activity = most(activity)
	return f
}

// Bounded keeps as many frames as a bound allows, by cost, and adds elided frames for
// what else is called below them. The elided frames come on top of the bound. A frame
// costs at least as much as the frames that it calls, so a kept frame's callers are kept
// too.
func Bounded(frames []Frame, bound int) []Frame {
	if len(frames) <= bound {
		return frames
	}
	costs := make([]float64, len(frames))
	for i, f := range frames {
		costs[i] = f.Cost
	}
	slices.SortFunc(costs, func(a, b float64) int { return cmp.Compare(b, a) })
	least := costs[bound]
	var kept []Frame
	for i := 0; i < len(frames); {
		if f := frames[i]; f.Cost > least {
			kept = append(kept, f)
			i++
			continue
		}
		// The first that is too small, and its siblings after it, which are smaller yet.
		small := Frame{Depth: frames[i].Depth, Activity: frames[i].Activity, Elided: true}
		for ; i < len(frames) && frames[i].Depth >= small.Depth && frames[i].Cost <= least; i++ {
			if frames[i].Depth == small.Depth {
				small.Cost += frames[i].Cost
			}
		}
		kept = append(kept, small)
	}
	return kept
}

func most(activity []float64) int {
	at := 0
	for i, cost := range activity {
		if cost > activity[at] {
			at = i
		}
	}
	return at
}
