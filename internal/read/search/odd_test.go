package search_test

import (
	"math/rand/v2"
	"testing"

	"netdyno/internal/read/cells"
	"netdyno/internal/read/search"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// Whatever a run left behind, a race decides and reads something.
func TestRacesOfOddRuns(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	for seed := range uint64(60) {
		header, trials, records := synthetic.Random(seed)
		header.Study.Race = &record.Race{
			Best: []string{"exchanges_per_s", "server.cpu_us_per_exchange", "nonsense"}[rng.IntN(3)], Confirm: 1 + rng.IntN(4), TimeS: float64(rng.IntN(60)),
			Within: []record.Bound{{Text: "1", Metric: "server.rss_bytes", Value: 1 + 2e7*rng.Float64()}},
		}
		if rng.IntN(5) == 0 {
			header.Study.Compare.Baseline = "nobody"
		}
		for block := 1; block <= header.Study.Blocks+1; block++ {
			s, err := cells.Read(header, record.Allocated(trials, header.Allocations), records)
			if err != nil {
				t.Fatal(err)
			}
			a, words := search.Next(s, block)
			if a.Block != block || a.Why != words || a.Ended && words == "" {
				t.Errorf("block %d: %+v, said %q", block, a, words)
			}
			header.Allocations = append(header.Allocations, a)
			r := search.Read(s)
			if (r == nil) != (header.Study.Race.Best == "nonsense") {
				t.Fatalf("read %+v of a race for %s", r, header.Study.Race.Best)
			}
			if r != nil && r.Choice.Recommended != "" && r.Choice.Recommended != r.Baseline && r.Choice.State != search.Confirmed && r.Choice.State != search.Needed {
				t.Errorf("%s recommends %s", r.Choice.State, r.Choice.Recommended)
			}
		}
	}
}
