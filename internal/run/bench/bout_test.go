package bench

import (
	"slices"
	"testing"

	"netdyno/internal/record"
)

// Trials of a block and cell are one bout where their loads alternate, else each its own; the
// order of blocks stays.
func TestBouts(t *testing.T) {
	plan := func() []record.Trial {
		var all []record.Trial
		for _, of := range []struct {
			block     int
			cell, arm string
		}{{1, "c=1", "a"}, {1, "c=10", "b"}, {1, "c=1", "b"}, {1, "c=10", "a"}, {2, "c=10", "a"}, {2, "c=10", "b"}, {2, "c=1", "b"}} {
			all = append(all, record.Trial{Block: of.block, Cell: of.cell, Arm: of.arm})
		}
		return all
	}
	for _, c := range []struct {
		alternate bool
		want      []bout
	}{
		{true, []bout{{first: 0, turns: 2}, {first: 2, turns: 2}, {first: 4, turns: 2}, {first: 6, turns: 1}}},
		{false, []bout{{first: 0, turns: 1}, {first: 1, turns: 1}, {first: 2, turns: 1}, {first: 3, turns: 1}, {first: 4, turns: 1}, {first: 5, turns: 1}, {first: 6, turns: 1}}},
	} {
		trials := plan()
		if got := boutsOf(trials, c.alternate); !slices.Equal(got, c.want) {
			t.Errorf("alternating %t: %+v, want %+v", c.alternate, got, c.want)
		}
		for i, b := range c.want {
			for _, one := range trials[b.first : b.first+b.turns] {
				if first := trials[b.first]; one.Block != first.Block || one.Cell != first.Cell {
					t.Errorf("bout %d has %+v beside %+v", i, one, first)
				}
			}
		}
		if blocks := slices.IsSortedFunc(trials, func(a, b record.Trial) int { return a.Block - b.Block }); !blocks {
			t.Errorf("the blocks are out of order: %+v", trials)
		}
	}
}

// Each load has as many slices of a bout as another, and no slice runs beside another's.
func TestSlicesOfABout(t *testing.T) {
	b := &bout{turns: 3}
	for seed := range uint64(50) {
		order := b.slices(seed)
		if len(order) != 3*slicesOfTurn {
			t.Fatalf("%v", order)
		}
		for of := range slicesOfTurn {
			round := slices.Sorted(slices.Values(order[3*of : 3*of+3]))
			if !slices.Equal(round, []int{0, 1, 2}) {
				t.Errorf("seed %d, round %d: %v", seed, of, order)
			}
		}
	}
	if alone := (&bout{turns: 1}).slices(7); !slices.Equal(alone, []int{0}) {
		t.Errorf("a load alone has %v", alone)
	}
}
