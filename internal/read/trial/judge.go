package trial

import (
	"fmt"
	"runtime"
	"strings"
	"sync"

	"netdyno/internal/metric"
	"netdyno/internal/record"
)

// JudgeAll reads every trial, on all CPUs: decoding histograms is most of
// the work of a large study, and no trial needs another.
func JudgeAll(judged []*Judged) {
	next := make(chan *Judged)
	var readers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		readers.Go(func() {
			for v := range next {
				v.Trial = judge(v)
			}
		})
	}
	for _, v := range judged {
		next <- v
	}
	close(next)
	readers.Wait()
}

// judge reads one trial, and notes in v what only all trials together can
// judge. It does not keep the window: decoded histograms of
// thousands of trials would not fit into memory.
func judge(v *Judged) Trial {
	t := Trial{ID: v.Plan.ID, Block: v.Plan.Block, Repeat: v.Plan.Repeat, Status: StatusMissing}
	if v.Record == nil {
		return t
	}
	if status, reason := outcome(v); status != Valid {
		t.Status, t.Reason = status, reason
		return t
	}
	e := newAudit(v.Record)
	t.Status, t.Values, t.Series, t.CPU = Valid, e.values, e.series, split(e)
	if t.Errors = failed(e); t.Errors > 0 {
		t.Reasons = e.reasonsOf()
	}
	passed, reason := inconsistency(e)
	if v.Passed = passed; reason != "" {
		t.Status, t.Reason = StatusInvalid, reason
	}
	t.Moved = metric.Moved(e.window)
	t.Others, t.Waited = e.others, e.waitedBeside()
	t.Limit, v.LimitOf, t.LimitProof = limitOf(e)
	v.Traffic = linkTrafficOf(e, v)
	v.CostError, _ = costError(e)
	v.Service, v.Response = curveOf(e.window, record.Service), curveOf(e.window, record.Response)
	v.Counted = countedOf(e)
	flags, why := raised(e)
	t.Flags, v.Why = flags, why
	if falsified(flags) {
		if t.Stalls = stalls(e); t.Status == Valid {
			withoutRates(e, &t, why[len(why)-1])
			v.LimitOf, v.Traffic = "", LinkTraffic{}
		}
	}
	if t.Reason == "" {
		t.Reason = strings.Join(why, "; ")
	}
	return t
}

func outcome(v *Judged) (status, reason string) {
	r := v.Record
	reason = "no reason was recorded"
	if f := r.Failure; f != nil {
		reason = string(f.Kind) + ": " + f.Text
		if f.Worker != "" {
			reason = f.Worker + " (" + f.State + "): " + reason
		}
	}
	switch {
	case r.Schema > record.Schema:
		return StatusInvalid, fmt.Sprintf("written by schema %d, this reader knows up to %d", r.Schema, record.Schema)
	case r.Trial.Cell != v.Plan.Cell || r.Trial.Arm != v.Plan.Arm || r.Trial.Block != v.Plan.Block ||
		r.Trial.Repeat != v.Plan.Repeat || r.Trial.Probe != v.Plan.Probe:
		return StatusInvalid, "its record is of another place than the plan's: the files are of different runs"
	case r.Outcome == record.Unsupported:
		return StatusUnsupported, reason
	case r.Outcome == record.OK && r.Failure == nil:
		return Valid, ""
	}
	return StatusFailed, reason
}
