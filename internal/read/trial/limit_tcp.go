package trial

import (
	"fmt"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// Shares from which an end's connections count as held back (METHOD §5). The
// kernel charges each moment of a connection to one cause at most, so half of
// the time is more than all other causes together; and connections that had
// nothing to send for half of the window were not what the load waited for.
const (
	heldBack = 0.5 // of the time with data to send
	sending  = 0.5 // of the window, over the connections that carry load
)

// restraint is one way in which TCP holds an end back that has data to send.
type restraint struct {
	limit Limit
	held  func(record.TCPGrowth) float64
	// of is the end whose buffer is too small, or too slowly read.
	of func(sender contract.Role) contract.Role
	// words say it, of the sender's name and of the other end's.
	words func(sender, other string) string
}

var restraints = []restraint{
	{
		limit: ReceiveWindow,
		held:  func(g record.TCPGrowth) float64 { return g.ReceiveWindowS },
		of:    otherEnd,
		words: func(_, other string) string { return "held back by the receive window of the " + other },
	},
	{
		limit: SendBuffer,
		held:  func(g record.TCPGrowth) float64 { return g.SendBufferS },
		of:    func(sender contract.Role) contract.Role { return sender },
		words: func(sender, _ string) string { return "held back by the send buffer of the " + sender + " itself" },
	},
}

// restrained proves that the connections of an end were held back, whose buffer
// it was, and why; false when none were, or nobody accounted for them.
func restrained(e *audit) (limit Limit, of contract.Role, proof string) {
	for _, r := range restraints {
		for _, sender := range []contract.Role{contract.Server, contract.Client} {
			if proof := heldBackBy(e, r, sender); proof != "" {
				return r.limit, r.of(sender), proof
			}
		}
	}
	for _, sender := range []contract.Role{contract.Server, contract.Client} {
		if proof := windowed(e, sender); proof != "" {
			return ReceiveWindow, otherEnd(sender), proof
		}
	}
	return "", "", ""
}

// heldBackBy proves that the kernel charged an end's connections with one
// restraint for most of the time in which they had data to send.
func heldBackBy(e *audit, r restraint, sender contract.Role) (proof string) {
	spans, ok := e.window.Spans(sender)
	if !ok {
		return ""
	}
	g, ok := record.GrowthOf(spans)
	loaded := g.SocketsS * e.activeShare()
	if !ok || g.BusyS < sending*loaded || r.held(g) < heldBack*g.BusyS || !(g.BusyS > 0) {
		return ""
	}
	return fmt.Sprintf("the %s's %.0f connections had data to send for %s of the window and were for %s of that time %s; %s",
		sender, g.Sockets, quantity.FormatShare(min(g.BusyS/loaded, 1)), quantity.FormatShare(min(r.held(g)/g.BusyS, 1)),
		r.words(string(sender), string(otherEnd(sender))), circumstances(e, sender, spans))
}

// circumstances tell what a reader needs to change something: the round trip
// that windows are divided by, and whether the other end left bytes unread, so
// that it was slow rather than its buffer small.
func circumstances(e *audit, sender contract.Role, spans []record.Span) string {
	var parts []string
	values := e.values
	if rtt, ok := values[string(sender)+".tcp_rtt_us"]; ok {
		parts = append(parts, "round trip "+quantity.FormatMicroseconds(rtt))
	}
	if window, ok := values[string(sender)+".tcp_congestion_window_bytes"]; ok {
		parts = append(parts, "congestion window "+quantity.FormatBytes(window))
	}
	queued, unread := 0.0, 0.0
	for _, s := range spans {
		if _, to, ok := s.TCP(); ok {
			queued += float64(to.SendQueuedBytes)
		}
	}
	parts = append(parts, quantity.FormatBytes(queued)+" in its send buffers at the close")
	if others, ok := e.window.Spans(otherEnd(sender)); ok {
		known := true
		for _, s := range others {
			_, to, accounted := s.TCP()
			if known = known && accounted; known {
				unread += float64(to.ReceiveBufferedBytes)
			}
		}
		if known {
			parts = append(parts, quantity.FormatBytes(unread)+" unread at the other end")
		}
	}
	return strings.Join(parts, ", ")
}
