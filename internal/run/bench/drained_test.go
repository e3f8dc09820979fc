package bench

import (
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/record"
)

// Where some replies have other lengths than setup says, those that drained and have that length
// are counted, too.
func TestDrainedRepliesHaveLengths(t *testing.T) {
	lengths := func(ns ...int64) string {
		h := hist.New()
		for _, n := range ns {
			h.Record(n, 1)
		}
		text, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for name, c := range map[string]struct {
		part, rest string
		want       int64
	}{
		"all as expected":     {"", "", 0},
		"the drained are":     {lengths(90, 99), "", 4},
		"none as expected":    {lengths(90, 99), lengths(98, 99), 4},
		"those in the window": {"", lengths(98, 99), 0},
	} {
		w := record.Worker{Setup: &contract.Setup{Exchange: contract.Exchange{DownBytes: 99}}, Result: &contract.Result{Lengths: c.part}}
		if err := drainInto(&w, &contract.Result{Counts: contract.Counts{Exchanges: 1}, Drained: 1, Lengths: c.rest}); err != nil {
			t.Fatal(err)
		}
		if w.Result.Drained != 2 {
			t.Errorf("%s: %d drained", name, w.Result.Drained)
		}
		if c.want == 0 && w.Result.Lengths == "" {
			continue
		}
		if h, err := hist.Decode(w.Result.Lengths); err != nil || h.Count() != c.want {
			t.Errorf("%s: %d lengths, %v; expected %d", name, h.Count(), err, c.want)
		}
	}
}
