package trial_test

import (
	"math"
	"testing"

	"netdyno/internal/contract"
	"netdyno/internal/record"
	"netdyno/test/synthetic"
)

// Others are processes that none of the trial's workers started: neither what those used
// counts, nor interrupts, nor CPUs on which no worker may run; and nothing is said where
// not all that served was metered.
func TestOthersAreWhoIsNoneOfTheTrials(t *testing.T) {
	all := []int{0, 1, 2, 3}
	for name, c := range map[string]struct {
		change func(server, client *record.Worker)
		want   float64
	}{
		"nobody":               {func(_, _ *record.Worker) {}, 0},
		"half of what is idle": {func(s, c *record.Worker) { stranger(0.5, all, s, c) }, 0.319},
		"a little":             {func(s, c *record.Worker) { stranger(0.1, all, s, c) }, 0},
		"where no worker runs": {func(s, c *record.Worker) {
			stranger(1, []int{2, 3}, s, c)
			on := []int{0, 1}
			for _, w := range []*record.Worker{s, c} {
				w.CPUSet, w.Open.Meter.CPUSet, w.Close.Meter.CPUSet = on, on, on
			}
		}, 0},
		"beside a server that was not metered": {func(s, c *record.Worker) {
			stranger(0.5, all, s, c)
			s.Ready = &contract.Ready{Elsewhere: true}
		}, 0},
	} {
		judged := examined(t, synthetic.Options{}, func(r *record.Record) { c.change(&r.Workers[0], &r.Workers[1]) })
		if got := judged.Others; math.Abs(got-c.want) > 0.02 {
			t.Errorf("%s: others used %.3f of the CPUs, want %.3f", name, got, c.want)
		}
	}
}

// stranger lets processes that are none of the trial's use a share of what is idle of some
// CPUs, as both workers' meters read it.
func stranger(share float64, ids []int, workers ...*record.Worker) {
	for _, w := range workers {
		for _, id := range ids {
			from, to := w.Open.Meter.CPUs[id], &w.Close.Meter.CPUs[id]
			theirs := int64(share * float64(to.IdleNs-from.IdleNs))
			to.IdleNs, to.UserNs = to.IdleNs-theirs, to.UserNs+theirs
		}
	}
}
