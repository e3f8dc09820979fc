package trial

import (
	"fmt"
	"slices"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/read/course"
	"netdyno/internal/record"
)

// checkResults demands of every client a result with a window and work begun in it, and
// of every worker that it reported no fatal error.
func checkResults(e *audit) string {
	if len(e.generators) == 0 {
		return "no client left a result"
	}
	for _, g := range e.generators {
		switch r := g.Result; {
		case r == nil:
			return g.Name + " left no result"
		case r.ToNs <= r.FromNs:
			return fmt.Sprintf("%s counted a window of %d ns", g.Name, r.ToNs-r.FromNs)
		case r.Counts.Exchanges <= 0 && failed(e) > 0 && !e.window.Record.Turn: // how many may fail bounds the run
			return g.Name + " completed no exchange in the window: " + e.failedText(failed(e))
		case r.Counts.Exchanges+r.Drained+r.Unfinished <= 0 && !e.window.Record.Turn: // what a pause held back completes in a later turn
			return g.Name + " made no exchange in the window"
		}
		if err := g.Result.Check(); err != nil {
			return g.Name + ": " + err.Error()
		}
	}
	for _, w := range e.window.Record.Workers {
		for _, failure := range w.Errors {
			if failure.Fatal {
				return w.Name + " reported " + failure.Error()
			}
		}
	}
	return ""
}

// checkErrors rejects a trial in which exchanges failed where none may, or a connection was
// lost: the load that remained is not the declared one. A share of exchanges that may fail
// bounds all trials of an arm together (boundErrors).
func checkErrors(e *audit) string {
	total := failed(e)
	if total == 0 {
		return ""
	}
	for _, g := range e.generators {
		if lost, of := lostConnections(g); lost > 0 {
			return fmt.Sprintf("%s; %s lost %d of its %d connections", e.failedText(total), g.Name, lost, of)
		}
	}
	if e.maxErrors() > 0 {
		return ""
	}
	return e.failedText(total)
}

// tooManyErrors says that a larger share of the trial's exchanges failed than may.
func tooManyErrors(e *audit) string {
	most := e.maxErrors()
	if share, known := e.values[metric.ErrorShare]; !known || most == 0 || share <= most {
		return ""
	}
	return fmt.Sprintf("%s, %s of all, and at most %s may", e.failedText(failed(e)), quantity.ShareText(round(e.values[metric.ErrorShare])), quantity.ShareText(most))
}

// bound is what a trial adds to the share of its arm's exchanges that failed.
type bound struct {
	most float64 // share that may fail
	over string  // tooManyErrors
}

func boundOf(e *audit) bound {
	return bound{most: e.maxErrors(), over: tooManyErrors(e)}
}

// ended returns how many exchanges completed or failed by the clients' count.
func ended(e *audit) float64 {
	n := float64(failed(e))
	for _, g := range e.generators {
		if g.Result != nil {
			n += float64(g.Result.Counts.Exchanges)
		}
	}
	return n
}

// boundErrors rejects the trials in which too many exchanges failed, where that holds of all
// trials of the arm at that load together: of an arm whose true share may be, no trial is lost
// by chance.
func boundErrors(judged []*Judged) {
	type load struct{ cell, arm, rate string }
	of := func(v *Judged) load { return load{v.Plan.Cell, v.Plan.Arm, v.Plan.Levels[record.Rate]} }
	ended, errors := map[load]float64{}, map[load]float64{}
	for _, v := range judged {
		ended[of(v)] += v.Trial.Ended
		errors[of(v)] += float64(v.Trial.Errors)
	}
	at := slices.IndexFunc(checks, func(c Check) bool { return c.Name == "errors" })
	for _, v := range judged {
		if k := of(v); v.bound.over != "" && v.Trial.Status == Valid && errors[k] > v.bound.most*ended[k] {
			v.Trial.Status, v.Trial.Reason, v.Passed, v.Turn = StatusInvalid, v.bound.over, at, course.Turn{}
		}
	}
}

// round keeps two digits of a share.
func round(share float64) float64 {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(share, 'g', 2, 64), 64)
	if err != nil {
		return share // no number
	}
	return rounded
}

// failed returns how many exchanges failed by the clients' count.
func failed(e *audit) (total int64) {
	for _, g := range e.generators {
		if g.Result != nil {
			for _, n := range g.Result.Counts.Errors {
				total += n
			}
		}
	}
	return total
}

// checkVerified demands one verified message per connection (specification §1.3)
// where a client receives something that it can check. A foreign client checks
// nothing, which flag unverified says.
func checkVerified(e *audit) string {
	for _, g := range e.generators {
		_, down, ok := g.Sizes()
		if g.Role != contract.Client || g.Ready == nil || !ok || down <= 0 || Foreign(g) {
			continue
		}
		if g.Ready.Verified < g.Ready.Connections {
			return fmt.Sprintf("%s verified %d of its %d connections", g.Name, g.Ready.Verified, g.Ready.Connections)
		}
	}
	return ""
}
