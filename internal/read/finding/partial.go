package finding

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
func (e *trialAudit) stalled() (flag, why string) {
	stalls := e.stalls()
	if len(stalls) == 0 {
		return "", ""
	}
	return Stalled, "nothing moved " + StallTimes(stalls) + " after the window opened"
}

// backlog: an open loop worked off in its window what had fallen due before it.
func (e *trialAudit) backlog() (flag, why string) {
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
func (e *trialAudit) broken() (flag, why string) {
	if flag, why = e.stalled(); flag == "" {
		flag, why = e.backlog()
	}
	return flag, why
}

// withoutRates takes from a trial that stood still, or began with a backlog, what
// that falsifies: rates, costs, and times from the send. What remains of an open
// loop are its response times, which hold a stall as they must, what was left
// unfinished, and memory. Of a closed loop nothing does: the trial is invalid.
func (e *trialAudit) withoutRates(t *Trial, why string) {
	if !e.open || e.amount() {
		t.Status, t.Reason = StatusInvalid, why
		return
	}
	for name := range t.Values {
		if !outlivesStall(name) {
			delete(t.Values, name)
		}
	}
	t.CPU, t.Limit, t.LimitProof = nil, Unknown, why
}

// outlivesStall tells whether a metric holds although its trial stood still.
func outlivesStall(metric string) bool {
	if strings.HasPrefix(metric, record.Response+"_") {
		return true
	}
	_, of, atEnd := strings.Cut(metric, ".")
	if atEnd { // what an end holds at an edge: memory, threads, goroutines
		return strings.HasSuffix(of, "_bytes") && !strings.HasPrefix(of, "tcp_") || of == "threads" || of == "goroutines"
	}
	return slices.Contains([]string{"lag_p99_us", "arrival_gap_cv", "unfinished", "unfinished_age_max_us", errorShare}, metric)
}

// Partial tells whether a valid trial lacks the figures that a standstill or a
// backlog falsifies.
func (t Trial) Partial() bool {
	return t.Status == Valid && (slices.Contains(t.Flags, Stalled) || slices.Contains(t.Flags, Backlog))
}

// wherePartial explains why blocks of a comparison have no value: "" when no
// trial of its arms stood still.
func (s *dataset) wherePartial(b *pending) string {
	for _, arm := range []string{b.Arm, b.Base} {
		views, n := s.of(b.Cell, arm), 0
		for _, v := range views {
			n += oneIf(v.trial.Partial())
		}
		if n > 0 && !outlivesStall(b.Metric) {
			return fmt.Sprintf("; %s stood still or began with a backlog in %d of %d trials, which have no such figure", arm, n, len(views))
		}
	}
	return ""
}
