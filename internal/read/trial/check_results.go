package trial

import (
	"fmt"
	"slices"
	"strings"

	"netdyno/internal/contract"
)

// checkResults demands of every client a result with a window and work in it, and
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
		case r.Counts.Exchanges <= 0:
			return g.Name + " completed no exchange in the window"
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

// checkErrors rejects a trial in which exchanges failed: the load that remained is
// not the declared one.
func checkErrors(e *audit) string {
	total, kinds := failed(e)
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%d exchanges failed (%s)", total, strings.Join(kinds, ", "))
}

// failed returns how many exchanges failed by the clients' count, and the kinds of
// errors.
func failed(e *audit) (total int64, kinds []string) {
	for _, g := range e.generators {
		if g.Result == nil {
			continue
		}
		for kind, n := range g.Result.Counts.Errors {
			total += n
			kinds = append(kinds, string(kind))
		}
	}
	slices.Sort(kinds)
	return total, slices.Compact(kinds)
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
