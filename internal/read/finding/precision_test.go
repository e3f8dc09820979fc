package finding_test

import (
	"slices"
	"strings"
	"testing"

	"netdyno/internal/read/compare"
	"netdyno/internal/read/finding"
	"netdyno/internal/read/synthetic"
	"netdyno/internal/record"
)

// alone is a study of one arm that ends when its rate is known within 5 %.
func alone(sd float64, blocks int) (record.Header, []record.Trial, []record.Record) {
	h, trials, records := synthetic.Run(synthetic.Options{Arms: []synthetic.Arm{{Name: "a"}}, Bare: true, Connections: []int{1, 50}, Blocks: 5, SD: sd, Seed: 1})
	h.Study.Stages, h.Study.Blocks, h.Study.Settle = []int{3, 5}, 5, 0.05
	return h, trials, slices.DeleteFunc(records, func(r record.Record) bool { return r.Trial.Block > blocks })
}

func TestOneArmSettlesByItsPrecision(t *testing.T) {
	for _, c := range []struct {
		sd      float64
		blocks  int
		settled bool
		says    string
	}{
		{0.001, 3, true, "every rate is known within ±5 % after 3 blocks"},
		{0.5, 3, false, "after 3 blocks, 0 of 2 rates are known within ±5 %"},
		{0.001, 2, false, "after 2 blocks, 0 of 2 rates are known within ±5 %"},
	} {
		h, trials, records := alone(c.sd, c.blocks)
		look, err := compare.Look(h, trials, records, 1)
		if err != nil || look.Settled != c.settled || !strings.Contains(look.Sentence, c.says) {
			t.Errorf("scatter %v, %d blocks: %+v, %v", c.sd, c.blocks, look, err)
		}
	}
	h, trials, records := alone(0.5, 5)
	f, err := finding.Find(h, trials, records)
	if err != nil || f.Stage == nil || f.Stage.Settled || !strings.HasPrefix(f.Stage.Sentence, "after all 5 blocks, 0 of 2") {
		t.Errorf("after the last look: %+v, %v", f.Stage, err)
	}
}
