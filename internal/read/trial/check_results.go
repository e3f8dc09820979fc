package trial

import (
	"fmt"
	"strconv"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
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
		case r.Counts.Exchanges <= 0 && failed(e) > 0:
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

// checkErrors rejects a trial in which more exchanges failed than its study allows: the
// load that remained is not the declared one.
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
	most := e.maxErrors()
	share, known := e.values[metric.ErrorShare]
	switch {
	case known && share <= most:
		return ""
	case most > 0:
		return fmt.Sprintf("%s, %s of all, and at most %s may", e.failedText(total), quantity.ShareText(round(share)), quantity.ShareText(most))
	}
	return e.failedText(total)
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
