package trial

import (
	"fmt"

	"netdyno/internal/contract"
)

// interfaceShare is how much of a client's payload the kernel must have seen
// on its interfaces; headers only add to it. Readings that were late are of
// another window, by the share that they were late.
const interfaceShare = 0.99

// checkInterfaces demands that what a client received crossed an interface.
// Random bytes cannot be compressed; messages that may be packed are not checked. Messages through shared
// memory cross none, and those by RDMA pass the kernel by.
func checkInterfaces(e *audit) string {
	for _, g := range e.generators {
		span, ok := e.window.Span(g)
		if !ok || g.Role != contract.Client || g.Setup == nil || packs(g) {
			continue
		}
		if path := g.Path(); path != "" && path != contract.PathTCP {
			continue
		}
		from, to, length, ok := span.Metered()
		if !ok || len(from.Interfaces) == 0 {
			continue
		}
		seen := 0.0
		for _, after := range to.Interfaces {
			before, _ := from.Interfaces.Of(after.Name)
			seen += float64(after.ReceivedBytes) - float64(before.ReceivedBytes)
		}
		if e.amount() { // the readings enclose the work, and the time around it says nothing
			length = windowOf(g)
		}
		payload := float64(g.Result.Counts.ReceivedBytes) / windowOf(g)
		// Exchanges count whole when they complete: what of them had come before the
		// window opened is the window's too.
		_, down, _ := g.Sizes()
		early := g.Setup.Load.Slots() * float64(down) / length
		if seen > 0 && seen/length < (interfaceShare-shift(e, g, nil))*payload-early {
			return fmt.Sprintf("%s received %.0f bytes/s by its own count, but its host's interfaces carried %.0f bytes/s", g.Name, payload, seen/length)
		}
	}
	return ""
}
