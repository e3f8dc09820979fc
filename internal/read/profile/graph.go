package profile

import (
	"cmp"
	"maps"
	"slices"
)

// Graph is who calls whom in one end of an arm, and what that costs: the frames of its
// flame graph, each function once.
type Graph struct {
	Nodes []Node // by falling cost
	Edges []Edge // between nodes, by falling cost
}

// Node is a function, wherever it was called.
type Node struct {
	Name     string
	Flat     float64 // its own cost, in the flame's unit
	Cost     float64 // and what it called
	Activity int     // in which most of that was spent, of Activities
}

// Edge is one function as called by another, by their places in Nodes.
type Edge struct {
	From, To int
	Cost     float64
	Through  int // how many functions lie between, each called by one and calling one
}

const (
	graphShare = 0.01  // of the whole, below which a function or a call is left out
	ownShare   = 0.005 // of the whole, below which a function between two others may be passed over
	graphNodes = 60
)

// GraphOf builds the graph of a flame. A function that calls itself, also by others,
// counts once in each stack.
func GraphOf(f Flame) Graph {
	w := walk{nodes: map[string]*Node{}, calls: map[call]passed{}, largest: map[string]float64{}}
	for i, frame := range f.Frames {
		w.enter(frame, f.Frames[i+1:])
	}
	maps.DeleteFunc(w.nodes, func(_ string, n *Node) bool { return n.Cost < graphShare*f.Whole })
	maps.DeleteFunc(w.calls, func(c call, p passed) bool {
		return p.cost < graphShare*f.Whole || w.nodes[c.from] == nil || w.nodes[c.to] == nil
	})
	nodes := slices.SortedFunc(maps.Values(w.nodes), func(a, b *Node) int { return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(a.Name, b.Name)) })
	nodes = slices.DeleteFunc(nodes, func(n *Node) bool { return n.Flat < ownShare*f.Whole && w.passOver(n.Name) })
	var g Graph
	place := map[string]int{}
	for i, n := range nodes[:min(len(nodes), graphNodes)] {
		place[n.Name] = i
		g.Nodes = append(g.Nodes, *n)
	}
	for c, p := range w.calls {
		from, called := place[c.from]
		to, calls := place[c.to]
		if called && calls {
			g.Edges = append(g.Edges, Edge{from, to, p.cost, p.through})
		}
	}
	slices.SortFunc(g.Edges, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(b.Cost, a.Cost), cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
	return g
}

// call is one function's of another; passed is what it costs, and how many functions are
// passed over on its way.
type (
	call   struct{ from, to string }
	passed struct {
		cost    float64
		through int
	}
)

// passOver takes a function out that one calls and that calls one, if the two do not
// call each other besides. False leaves it in.
func (w *walk) passOver(name string) bool {
	var in, out []call
	for c := range w.calls {
		if c.to == name {
			in = append(in, c)
		}
		if c.from == name {
			out = append(out, c)
		}
	}
	if len(in) != 1 || len(out) != 1 || in[0] == out[0] {
		return false
	}
	joined := call{in[0].from, out[0].to}
	if _, besides := w.calls[joined]; besides || joined.from == joined.to {
		return false
	}
	above, below := w.calls[in[0]], w.calls[out[0]]
	delete(w.calls, in[0])
	delete(w.calls, out[0])
	w.calls[joined] = passed{below.cost, above.through + below.through + 1}
	return true
}

// walk goes through frames, each before those that it called.
type walk struct {
	nodes   map[string]*Node
	calls   map[call]passed
	largest map[string]float64 // of a function's frames, which says its activity
	stack   []string
}

func (w *walk) enter(f Frame, after []Frame) {
	w.stack = w.stack[:min(f.Depth, len(w.stack))]
	if f.Elided {
		return
	}
	n := w.nodes[f.Name]
	if n == nil {
		n = &Node{Name: f.Name}
		w.nodes[f.Name] = n
	}
	n.Flat += f.Cost - calledBy(f, after)
	if !slices.Contains(w.stack, f.Name) {
		n.Cost += f.Cost
	}
	if f.Cost > w.largest[f.Name] {
		w.largest[f.Name], n.Activity = f.Cost, f.Activity
	}
	if depth := len(w.stack); depth > 0 && !w.called(w.stack[depth-1], f.Name) {
		c := call{w.stack[depth-1], f.Name}
		w.calls[c] = passed{cost: w.calls[c].cost + f.Cost}
	}
	w.stack = append(w.stack, f.Name)
}

// called tells whether one function called the other further up the stack.
func (w *walk) called(from, to string) bool {
	for i := 1; i < len(w.stack); i++ {
		if w.stack[i-1] == from && w.stack[i] == to {
			return true
		}
	}
	return false
}

// calledBy is what the callees of a frame cost, which stand after it.
func calledBy(f Frame, after []Frame) float64 {
	sum := 0.0
	for _, callee := range after {
		if callee.Depth <= f.Depth {
			break
		}
		if callee.Depth == f.Depth+1 {
			sum += callee.Cost
		}
	}
	return sum
}
