package rigs_test

import (
	"slices"
	"testing"
	"time"
)

// TestOverhead prints what a trial takes besides its window: start,
// connect, verify, stop. Speed is nothing to fail of on a shared machine.
func TestOverhead(t *testing.T) {
	soak(t)
	for _, name := range []string{"netns", "ssh", "slurm"} { // one after the other, or they would measure each other
		t.Run(name, func(t *testing.T) {
			b := beds[name](t, plain)
			contents := b.run(t, "transport=go-net", "connections=4", "blocks=4", "placement=free", "amount=500")
			var ready, end []time.Duration
			for _, r := range contents.Records {
				ready = append(ready, time.Duration(r.Timeline.ReadyNs))
				end = append(end, time.Duration(r.Timeline.EndNs-(r.Timeline.CloseNs-r.Timeline.OpenNs)))
			}
			t.Logf("a trial on %s takes %v besides its window, %v of it until all is ready (medians of %d)",
				b.rig, median(end), median(ready), len(end))
		})
	}
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2].Round(time.Millisecond)
}
