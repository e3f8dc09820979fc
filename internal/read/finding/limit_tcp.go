package finding

import (
	"fmt"
	"slices"
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

func otherEnd(r contract.Role) contract.Role {
	if r == contract.Server {
		return contract.Client
	}
	return contract.Server
}

// restrained proves that the connections of an end were held back, whose buffer
// it was, and why; false when none were, or nobody accounted for them.
func (e *trialAudit) restrained() (limit Limit, of contract.Role, proof string) {
	for _, r := range restraints {
		for _, sender := range []contract.Role{contract.Server, contract.Client} {
			if proof := e.heldBackBy(r, sender); proof != "" {
				return r.limit, r.of(sender), proof
			}
		}
	}
	for _, sender := range []contract.Role{contract.Server, contract.Client} {
		if proof := e.windowed(sender); proof != "" {
			return ReceiveWindow, otherEnd(sender), proof
		}
	}
	return "", "", ""
}

// heldBackBy proves that the kernel charged an end's connections with one
// restraint for most of the time in which they had data to send.
func (e *trialAudit) heldBackBy(r restraint, sender contract.Role) (proof string) {
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
		r.words(string(sender), string(otherEnd(sender))), e.circumstances(sender, spans))
}

// activeShare is the share of connections that carry load.
func (e *trialAudit) activeShare() float64 {
	for _, g := range e.generators {
		if g.Setup != nil && g.Setup.Load.ActiveShare > 0 && g.Setup.Load.ActiveShare < 1 {
			return g.Setup.Load.ActiveShare
		}
	}
	return 1
}

// circumstances tell what a reader needs to change something: the round trip
// that windows are divided by, and whether the other end left bytes unread, so
// that it was slow rather than its buffer small.
func (e *trialAudit) circumstances(sender contract.Role, spans []record.Span) string {
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

// The settings of an arm that the kernel tells of its connections, behind the
// role and a dot.
const (
	TCPConnections = "tcp_connections" // as many as were counted at the closing edge
	TCPCongestion  = "tcp_congestion"  // the congestion controls in use
)

// tcpSettings returns these of a trial, by role, over all workers of a role.
func tcpSettings(r *record.Record) map[string]string {
	all := map[string]string{}
	w := record.NewWindow(r)
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		spans, ok := w.Spans(role)
		if _, known := record.GrowthOf(spans); !ok || !known {
			continue
		}
		sockets, names := 0, []string{}
		for _, s := range spans {
			_, to, _ := s.TCP()
			sockets += to.Sockets
			names = append(names, to.Congestion...)
		}
		slices.Sort(names)
		all[string(role)+"."+TCPConnections] = fmt.Sprint(sockets)
		if names = slices.Compact(names); len(names) > 0 {
			all[string(role)+"."+TCPCongestion] = strings.Join(names, ", ")
		}
	}
	return all
}
