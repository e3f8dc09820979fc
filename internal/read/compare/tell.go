package compare

import (
	"math"
	"slices"

	"netdyno/internal/metric"
	"netdyno/internal/read/cells"
	"netdyno/internal/read/stat"
	"netdyno/internal/record"
)

// Telling is how long a run takes to tell a difference.
type Telling struct {
	Metric  string
	Seconds float64 // of measuring; +Inf where stat.MaxBlocks do not
}

// TellsIn returns for the metrics that a study judges, and the others by which servers are
// chosen, in how many seconds a run like the one so far tells in nine of ten cases, with the
// whole level for that metric, that two arms differ by a share: as long as it takes for the
// widest pair of any cell. Metrics without two blocks of figures are left out. It fails where
// cells.Read fails.
func TellsIn(header record.Header, trials []record.Trial, records []record.Record, share float64) ([]Telling, error) {
	s, err := cells.Read(header, trials, records)
	if err != nil {
		return nil, err
	}
	blocks := 0
	for _, r := range records {
		blocks = max(blocks, r.Trial.Block)
	}
	took := 0.0
	for _, seconds := range blockSeconds(s, blocks) {
		took += seconds / float64(max(1, blocks))
	}
	var all []Telling
	seen := map[string]bool{}
	for _, name := range slices.Concat(s.Compare.Primary, []string{metric.OfServer + metric.CPUPerExchange, tailMetric(s), metric.ExchangesPerS}) {
		widest := 0.0
		for _, cell := range s.Cells {
			for _, arm := range s.Arms {
				if effects := PairUp(s, cell, name, arm, s.Compare.Baseline).Effects; arm != s.Compare.Baseline && len(effects) > 1 {
					widest = max(widest, stat.SD(effects))
				}
			}
		}
		if widest > 0 && !seen[name] {
			seen[name] = true
			all = append(all, Telling{name, took * blocksToTell(widest, math.Log1p(share)-math.Log1p(Margin(s.Compare)))})
		}
	}
	return all, nil
}

// blocksToTell is how many blocks it takes to tell a difference that lies so far beyond the
// bound, of effects with a standard deviation; +Inf for more than stat.MaxBlocks.
func blocksToTell(sd, beyond float64) float64 {
	for n := LeastBlocks(cells.Level); n <= stat.MaxBlocks; n++ {
		if stat.SmallestDifference(n, sd, 0) <= beyond {
			return float64(n)
		}
	}
	return math.Inf(1)
}
