package cells

import (
	"slices"
	"sync"
)

// EachCell calls find for every cell, side by side, and returns what it found in
// the order of the cells. Find may read the dataset, which nobody changes then.
func EachCell[T any](s *Dataset, find func(cell string) []T) []T {
	found := make([][]T, len(s.Cells))
	var finders sync.WaitGroup
	for i, cell := range s.Cells {
		finders.Go(func() { found[i] = find(cell) })
	}
	finders.Wait()
	return slices.Concat(found...)
}
