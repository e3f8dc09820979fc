package trial

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/record"
)

// How much more than fell due in its window an open loop may complete in it,
// before its rate is that of a backlog: a share of the window, and what a crowded
// host is late by (METHOD §2.4).
const (
	backlogShare   = 0.02
	backlogSeconds = 0.02
)

// stalled: nothing was completed for a while inside the window, so what is divided
// by the window's length, or by what was done in it, is no property of an arm.
func stalled(e *audit) (flag, why string) {
	stalls := stalls(e)
	if len(stalls) == 0 {
		return "", ""
	}
	return Stalled, "nothing moved " + StallTimes(stalls) + " after the window opened"
}

// backlog: an open loop worked off in its window what had fallen due before it.
func backlog(e *audit) (flag, why string) {
	if e.amount() {
		return "", ""
	}
	for _, g := range e.generators {
		if g.Setup == nil || g.Result == nil || !(g.Setup.Load.Rate > 0) {
			continue
		}
		window := windowOf(g)
		if done := float64(g.Result.Counts.Exchanges); done > fallsDue(g, window+max(backlogShare*window, backlogSeconds)) {
			return Backlog, fmt.Sprintf("%s completed %.0f exchanges in its window, in which %.0f fell due: it began with a backlog",
				g.Name, done, g.Setup.Load.Rate*window)
		}
	}
	return "", ""
}

// broken returns the first flag of a trial whose rates are no property of an arm.
func broken(e *audit) (flag, why string) {
	if flag, why = stalled(e); flag == "" {
		flag, why = backlog(e)
	}
	return flag, why
}

// withoutRates takes from a trial that stood still, or began with a backlog, what
// that falsifies: rates, costs, and times from the send. What remains of an open
// loop are its response times, which hold a stall as they must, what was left
// unfinished, and memory. Of a closed loop nothing does: the trial is invalid.
func withoutRates(e *audit, t *Trial, why string) {
	if !e.open || e.amount() {
		t.Status, t.Reason = StatusInvalid, why
		return
	}
	for name := range t.Values {
		if !OutlivesStall(name) {
			delete(t.Values, name)
		}
	}
	t.CPU, t.Limit, t.LimitProof = nil, Unknown, why
}

// OutlivesStall tells whether a metric holds although its trial stood still.
func OutlivesStall(metric string) bool {
	if strings.HasPrefix(metric, record.Response+"_") {
		return true
	}
	_, of, atEnd := strings.Cut(metric, ".")
	if atEnd { // what an end holds at an edge: memory, threads, goroutines
		return strings.HasSuffix(of, "_bytes") && !strings.HasPrefix(of, "tcp_") || of == "threads" || of == "goroutines"
	}
	return slices.Contains([]string{"lag_p99_us", "arrival_gap_cv", "unfinished", "unfinished_age_max_us", ErrorShare}, metric)
}
