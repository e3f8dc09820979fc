package best

import (
	"math/rand/v2"
	"testing"

	"netdyno/internal/read/stat"
)

// Of questions that are open, the number of blocks that is told is within a factor of two of
// what they took in three of five runs at least.
func TestHowLongItTakesIsTold(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 3))
	for _, ran := range []int{7, 16} {
		open, right := 0, 0
		for range 2000 {
			delta := []float64{0, 0.01, 0.05, 0.1, 0.2}[rng.IntN(5)]
			noise := []float64{0.01, 0.02, 0.05, 0.1}[rng.IntN(4)]
			var apart []float64
			judged := func(n int) *judging {
				for len(apart) < n {
					apart = append(apart, delta+noise*rng.NormFloat64())
				}
				u, _ := stat.MeanOf(apart[:n])
				back := u
				back.Point = -back.Point
				return &judging{
					margin: 0.02, bound: 0.02, level: 0.05, whole: 0.05, arms: []string{"a", "b"},
					pairs: [][]pair{{{}, {ratio: u, blocks: n, of: n}}, {{ratio: back, blocks: n, of: n}, {}}},
				}
			}
			settled := func(n int) bool { return len(judged(n).judge(nil).standing(Open)) == 0 }
			if settled(ran) {
				continue
			}
			open++
			told := (&Judged{of: map[[2]string]*judging{{}: judged(ran)}}).Blocks("", "", "a", "b")
			took := ran + 1
			for took < stat.MaxBlocks && !settled(took) {
				took++
			}
			right += count(told <= 2*took && took <= 2*told || told == 0 && took == stat.MaxBlocks)
		}
		t.Logf("after %d blocks %d questions are open; of %d the number told is within a factor of two", ran, open, right)
		if 5*right < 3*open {
			t.Errorf("after %d blocks of %d questions only %d are told within a factor of two", ran, open, right)
		}
	}
}
