package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
)

// After as many blocks as are said a difference is told in nine of ten runs, and after half as
// many in far fewer.
func TestBlocksToTell(t *testing.T) {
	r := rand.New(rand.NewPCG(54, 1))
	for _, c := range []struct{ sd, differs float64 }{{0.03, 0.05}, {0.06, 0.05}, {0.1, 0.10}, {0.3, 0.2}} {
		margin := math.Log1p(DefaultMargin)
		n := int(blocksToTell(c.sd, math.Log1p(c.differs)-margin))
		told := func(blocks int) (share float64) {
			const runs = 2000
			for range runs {
				effects := make([]float64, blocks)
				for i := range effects {
					effects[i] = math.Log1p(c.differs) + c.sd*r.NormFloat64()
				}
				if u, _ := stat.MeanOf(effects); u.At(cells.Level).Low > margin {
					share += 1. / runs
				}
			}
			return share
		}
		if got := told(n); got < 0.87 {
			t.Errorf("%+v: %d blocks tell it in %.2f", c, n, got)
		}
		if got := told(n / 2); n > 2*LeastBlocks(cells.Level) && got > 0.8 {
			t.Errorf("%+v: half of %d blocks tell it in %.2f", c, n, got)
		}
	}
	if got := blocksToTell(5, 0.01); !math.IsInf(got, 1) {
		t.Errorf("what no number of blocks tells takes %v", got)
	}
}
