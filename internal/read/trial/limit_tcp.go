package trial

import (
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// Shares from which an end's connections count as held back (specification §5).
// The kernel charges each moment of a connection to one cause at most, so half of
// the time is more than all other causes together. Connections that had nothing
// to send for half of the window were not what the load waited for.
const (
	heldBack = 0.5 // of the time with data to send
	sending  = 0.5 // of the window, over the connections that carry load
)

// restraint is one way in which TCP holds an end back.
type restraint struct {
	held  func(record.TCPGrowth) float64
	of    func(sender contract.Role) contract.Role // the end whose buffer is too small, or read too slowly
	words func(sender, other string) string        // completes "for 80 % of that time"
}

// prove proves that the kernel charged an end's connections with the restraint
// for most of the time in which they had data to send.
func (r restraint) prove(e *audit) (of contract.Role, proof string) {
	for _, sender := range []contract.Role{contract.Server, contract.Client} {
		spans, g, ok := e.connections(sender)
		loaded := g.SocketsS * e.activeShare()
		if !ok || g.BusyS < sending*loaded || r.held(g) < heldBack*g.BusyS || !(g.BusyS > 0) {
			continue
		}
		return r.of(sender), fmt.Sprintf("the %s's %.0f connections had data to send for %s of the window; for %s of that time %s; %s",
			sender, g.Sockets, quantity.FormatShare(min(g.BusyS/loaded, 1)), quantity.FormatShare(min(r.held(g)/g.BusyS, 1)),
			r.words(string(sender), string(otherEnd(sender))), circumstances(e, sender, spans))
	}
	return "", ""
}

// circumstances lists what a reader needs to change something: the round trip,
// by which windows are divided, and whether the other end left bytes unread, so
// that it was slow rather than its buffer small.
func circumstances(e *audit, sender contract.Role, spans []record.Span) string {
	var parts []string
	if rtt, ok := e.values[string(sender)+"."+metric.TCPRTT]; ok {
		parts = append(parts, "round trip "+quantity.FormatMicroseconds(rtt))
	}
	if window, ok := e.values[string(sender)+"."+metric.TCPCongestionWindow]; ok {
		parts = append(parts, "congestion window "+quantity.FormatBytes(window))
	}
	queued := 0.0
	for _, s := range spans {
		if _, to, ok := s.TCP(); ok {
			queued += float64(to.SendQueuedBytes)
		}
	}
	parts = append(parts, quantity.FormatBytes(queued)+" in the "+string(sender)+"'s send buffers at the end")
	if unread, ok := e.unreadAt(otherEnd(sender)); ok {
		parts = append(parts, quantity.FormatBytes(unread)+" unread at the "+string(otherEnd(sender)))
	}
	return strings.Join(parts, ", ")
}
