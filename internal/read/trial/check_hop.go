package trial

import (
	"fmt"

	"netdyno/internal/contract"
)

// checkHops demands that what the clients exchanged went through every hop: that each used
// CPU time in the window, and that the kernel carried over the connections of the hop next
// to the clients what these say they moved. Only where the kernel's account has all of the
// connections does it prove something; clients know no other address than that hop's.
func checkHops(e *audit) string {
	var sent, received float64
	connections := 0
	for _, g := range e.generators {
		if g.Setup == nil || g.Result == nil {
			return ""
		}
		sent += float64(g.Result.Counts.SentBytes)
		received += float64(g.Result.Counts.ReceivedBytes)
		connections += g.Setup.Load.Connections
	}
	first := true
	for w := range e.workers() {
		if w.Role != contract.Hop {
			continue
		}
		next := first
		first = false
		span, ok := e.window.Span(w)
		if !ok {
			return w.Name + " left no reading of the window"
		}
		if from, to, _, ok := span.Metered(); ok && to.Process.CPUNs == from.Process.CPUNs {
			return fmt.Sprintf("%s (%s) spent no CPU time in the window: the exchanges did not go through it", w.Name, w.Transport)
		}
		account, ok := wholeCounters(span)
		if !next || !ok || account.Sockets != connections || reopened(e) {
			continue
		}
		for _, c := range []struct {
			verb          string
			said, carried float64
		}{
			{"sent", sent, float64(account.ReceivedBytes)},
			{"received", received, float64(account.AckedBytes) + float64(account.SendQueuedBytes)},
		} {
			if c.said-c.carried > max(ServerSlack*c.said, held(e)) {
				return fmt.Sprintf("the clients %s %.0f bytes, but the kernel counted %.0f of them on the %d connections of %s (%s): the others did not go through it",
					c.verb, c.said, c.carried, account.Sockets, w.Name, w.Transport)
			}
		}
	}
	return ""
}

// reopened tells whether the kernel's account of connections, or of what messages weigh,
// says less than what was exchanged.
func reopened(e *audit) bool {
	for _, g := range e.generators {
		if packs(g) || g.Result.Counts.Redialled > 0 {
			return true
		}
	}
	return false
}
