package profile

import (
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"netdyno/test/synthetic"
)

// frameTree draws the callees of a frame whose cost is given, as frames lists them.
func frameTree(t *rapid.T, depth int, cost float64) []Frame {
	var all []Frame
	left := cost
	for range rapid.IntRange(0, 3).Draw(t, "callees") {
		part := min(left, cost*rapid.Float64Range(0.01, 0.6).Draw(t, "part"))
		if len(all) > 0 {
			part = min(part, all[len(all)-1].Cost) // siblings fall
		}
		if part <= 0 || depth > 5 {
			break
		}
		left -= part
		all = append(all, Frame{Depth: depth, Name: "f", Cost: part})
	}
	var flat []Frame
	for _, f := range all {
		flat = append(append(flat, f), frameTree(t, depth+1, f.Cost)...)
	}
	return flat
}

// However few frames are kept, what each level of a caller costs stays: nothing is left
// out without a box that says how much it was.
func TestBoundedFramesKeepTheirCosts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		frames := append([]Frame{{Name: "all", Cost: 100}}, frameTree(t, 1, 100)...)
		bound := rapid.IntRange(1, len(frames)).Draw(t, "bound")
		got := Bounded(frames, bound)
		sum := func(frames []Frame, depth int) (sum float64) {
			for _, f := range frames {
				if f.Depth == depth {
					sum += f.Cost
				}
			}
			return sum
		}
		kept, deepest := 0, 0
		for i, f := range got {
			if !f.Elided {
				kept++
			} else if i+1 < len(got) && got[i+1].Depth >= f.Depth {
				t.Fatalf("%+v stands before a sibling or has callees", f)
			}
			deepest = max(deepest, f.Depth)
		}
		if kept > bound || math.Abs(sum(got, 0)-sum(frames, 0)) > 1e-9 {
			t.Fatalf("%d frames kept of at most %d, %v at the top", kept, bound, sum(got, 0))
		}
		if deepest >= 1 && math.Abs(sum(got, 1)-sum(frames, 1)) > 1e-9 {
			t.Fatalf("below the top %v, want %v", sum(got, 1), sum(frames, 1))
		}
	})
}

// A worker names its functions as it likes; no name fills a page.
func TestNamesOfFunctionsAreBounded(t *testing.T) {
	p, err := Parse(synthetic.Profile([]synthetic.Stack{{Functions: []string{strings.Repeat("long", 2500), "main.x"}, CPU: time.Second}}))
	if err != nil {
		t.Fatal(err)
	}
	if got := traceOf(p.Sample[0]).functions; len([]rune(got[0])) != longestName+1 || got[1] != "main.x" {
		t.Errorf("%d and %d bytes", len(got[0]), len(got[1]))
	}
}
