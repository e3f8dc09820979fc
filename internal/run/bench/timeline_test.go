package bench

import (
	"testing"

	"netdyno/internal/contract"
)

func TestATimelineOfALongTrialIsThinnedOut(t *testing.T) {
	var c conversation
	const ticks = 5 * 3600 * 2 // two hours
	for i := range int64(ticks) {
		c.keep(contract.Tick{AtNs: i, Times: &contract.TickTimes{Count: 1}})
	}
	rich, last := 0, int64(0)
	for _, tick := range c.worker.Ticks {
		if tick.Times != nil {
			rich, last = rich+1, tick.AtNs
		}
	}
	if len(c.worker.Ticks) != ticks {
		t.Errorf("%d ticks are kept, want all %d: standstills are found by them", len(c.worker.Ticks), ticks)
	}
	if rich < maxTimeline/2 || rich > maxTimeline {
		t.Errorf("the times of %d ticks are kept, want %d to %d", rich, maxTimeline/2, maxTimeline)
	}
	if last < ticks*99/100 {
		t.Errorf("the last times kept are those of tick %d of %d", last, ticks)
	}
}
