package load

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestAgendaYieldsInOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ats := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 200).Draw(t, "ats")
		var a Agenda[int64]
		var popped []int64
		for i, at := range ats {
			a.Push(at, at)
			if i%3 == 2 { // interleave
				popped = append(popped, a.Pop())
				a.Push(popped[len(popped)-1], popped[len(popped)-1])
				popped = popped[:len(popped)-1]
			}
		}
		for a.Len() > 0 {
			at, item := a.Peek()
			if at != item || a.Pop() != item {
				t.Fatal("peek and pop disagree")
			}
			popped = append(popped, item)
		}
		slices.Sort(ats)
		if !slices.Equal(ats, popped) {
			t.Fatalf("popped %v, want %v", popped, ats)
		}
	})
}
