package bench

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"netdyno/internal/record"
)

// bout is the time of some turns of different loads, since the loads' start. Those of several
// loads are slices of it.
type bout struct {
	first, turns int // of the stint's
	from, to     time.Duration
	rests        bool // before it and after it, as several arms are compared
}

// sliced tells whether loads alternate inside a bout.
func (b *bout) sliced() bool { return b.turns > 1 }

// Loads that alternate in a bout run in so many slices each. Where arms are compared nothing is
// due between bouts: first what is in flight is answered, then readings are taken and clients
// tell their parts.
const (
	slicesOfTurn = 4
	drains       = 10 * time.Millisecond
)

// turnsOf are the turns of a bout.
func (s *stint) turnsOf(b *bout) []turn { return s.turns[b.first : b.first+b.turns] }

// takesPart tells whether a load has one of some turns.
func takesPart(turns []turn, r *runner) bool {
	return slices.ContainsFunc(turns, func(t turn) bool { return t.of == r })
}

// slices are the turns of a bout in the order in which their loads run: each once in every
// round, so that each follows each as often in the long run.
func (b *bout) slices(seed uint64) (order []int) {
	if !b.sliced() {
		return []int{0}
	}
	random := rand.New(rand.NewPCG(seed, 0))
	for range slicesOfTurn {
		order = append(order, random.Perm(b.turns)...)
	}
	return order
}

// boutsOf groups trials, which it brings into the order of their bouts: those of a block and
// cell together where loads alternate, else each by itself.
func boutsOf(trials []record.Trial, alternate bool) []bout {
	var all []bout
	for from := 0; from < len(trials); {
		block := trials[from:endOfBlock(trials, from)]
		from += len(block)
		var cells []string
		for _, t := range block {
			if !slices.Contains(cells, t.Cell) {
				cells = append(cells, t.Cell)
			}
		}
		if alternate {
			slices.SortStableFunc(block, func(a, b record.Trial) int {
				return cmp.Compare(slices.Index(cells, a.Cell), slices.Index(cells, b.Cell))
			})
		}
		first := from - len(block)
		for i, t := range block {
			if alternate && i > 0 && block[i-1].Cell == t.Cell {
				all[len(all)-1].turns++
			} else {
				all = append(all, bout{first: first + i, turns: 1})
			}
		}
	}
	return all
}
