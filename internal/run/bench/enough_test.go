package bench

import (
	"errors"
	"slices"
	"testing"

	"netdyno/internal/record"
	"netdyno/internal/run/rig"
)

// blocksOf are two trials for each block and a probe; none of them can run, so
// each leaves its failure at once.
func blocksOf(blocks int) []record.Trial {
	var trials []record.Trial
	for b := 1; b <= blocks; b++ {
		trials = append(trials, record.Trial{Block: b}, record.Trial{Block: b})
	}
	return append(trials, record.Trial{Block: blocks + 1, Probe: true})
}

// walked returns the blocks of the trials that were run, and the error.
func walked(t *testing.T, trials []record.Trial, before BeforeBlock) (blocks []int, err error) {
	t.Helper()
	b := Bench{
		Rig: rig.Loopback{}, Catalog: &Catalog{}, Before: before,
		Keep: func(r record.Record) error { blocks = append(blocks, r.Trial.Block); return nil },
	}
	err = b.Run(t.Context(), trials)
	return blocks, err
}

func TestEnoughEndsTheBlocksButNotTheProbes(t *testing.T) {
	var asked []int
	until := func(last int) BeforeBlock {
		return func(block int, planned []record.Trial) ([]record.Trial, bool, error) {
			asked = append(asked, block)
			if block > last && !planned[0].Probe {
				return nil, true, nil
			}
			return planned, false, nil
		}
	}
	if got, err := walked(t, blocksOf(4), until(2)); err != nil || !slices.Equal(got, []int{1, 1, 2, 2, 5}) || !slices.Equal(asked, []int{1, 2, 3, 5}) {
		t.Errorf("enough after block 2: ran %v, was asked before %v, %v", got, asked, err)
	}
	// A run that goes on inside block 2 or right after it is asked first.
	asked = nil
	if got, err := walked(t, blocksOf(4)[4:], until(2)); err != nil || !slices.Equal(got, []int{5}) || !slices.Equal(asked, []int{3, 5}) {
		t.Errorf("resumed after block 2: ran %v, was asked before %v, %v", got, asked, err)
	}
	if got, err := walked(t, blocksOf(2), nil); err != nil || !slices.Equal(got, []int{1, 1, 2, 2, 3}) {
		t.Errorf("nobody to ask: ran %v, %v", got, err)
	}
	full := errors.New("disk full")
	if got, err := walked(t, blocksOf(2), func(int, []record.Trial) ([]record.Trial, bool, error) { return nil, false, full }); !errors.Is(err, full) || len(got) != 0 {
		t.Errorf("a look that fails: ran %v, %v", got, err)
	}
}
