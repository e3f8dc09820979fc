package profile

import (
	"math"
	"slices"
	"testing"
)

// A function is one node however often it is called, and recursion counts once.
func TestACallGraphHasEachFunctionOnce(t *testing.T) {
	g := GraphOf(Flame{Whole: 100, Frames: []Frame{
		{Depth: 0, Name: "main", Cost: 100, Activity: 1},
		{Depth: 1, Name: "walk", Cost: 60, Activity: 2},
		{Depth: 2, Name: "walk", Cost: 40, Activity: 2},
		{Depth: 3, Name: "copy", Cost: 10, Activity: 3},
		{Depth: 1, Name: "copy", Cost: 30, Activity: 3},
		{Depth: 1, Name: "rare", Cost: 0.5},
		{Depth: 1, Cost: 5, Elided: true},
	}})
	want := []Node{{"main", 4.5, 100, 1}, {"walk", 50, 60, 2}, {"copy", 40, 40, 3}}
	if len(g.Nodes) != len(want) {
		t.Fatalf("%+v", g.Nodes)
	}
	for i, n := range g.Nodes {
		if n.Name != want[i].Name || math.Abs(n.Flat-want[i].Flat) > 1e-9 || math.Abs(n.Cost-want[i].Cost) > 1e-9 || n.Activity != want[i].Activity {
			t.Errorf("%+v, want %+v", n, want[i])
		}
	}
	calls := []Edge{{0, 1, 60, 0}, {1, 1, 40, 0}, {0, 2, 30, 0}, {1, 2, 10, 0}}
	if len(g.Edges) != len(calls) {
		t.Fatalf("%+v", g.Edges)
	}
	for i, e := range g.Edges {
		if e != calls[i] {
			t.Errorf("%+v, want %+v", e, calls[i])
		}
	}
}

// A chain of functions that take nothing by themselves is one call, which says through
// how many it goes; where ways part or meet, the function stays.
func TestACallGraphPassesOverChains(t *testing.T) {
	g := GraphOf(Flame{Whole: 100, Frames: []Frame{
		{Depth: 0, Name: "main", Cost: 100},
		{Depth: 1, Name: "a", Cost: 100},
		{Depth: 2, Name: "b", Cost: 100},
		{Depth: 3, Name: "fork", Cost: 100},
		{Depth: 4, Name: "c", Cost: 60},
		{Depth: 5, Name: "work", Cost: 60},
		{Depth: 4, Name: "d", Cost: 40},
		{Depth: 5, Name: "rest", Cost: 40},
	}})
	names := map[string]int{}
	for i, n := range g.Nodes {
		names[n.Name] = i
	}
	want := []Edge{{names["main"], names["fork"], 100, 2}, {names["fork"], names["work"], 60, 1}, {names["fork"], names["rest"], 40, 1}}
	if len(names) != 4 || !slices.Equal(g.Edges, want) {
		t.Errorf("%+v", g)
	}
}
