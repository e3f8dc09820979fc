package trial

import (
	"fmt"
	"math"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// ReceiveWindow says that the receive window of the end that should have read held the
// other end's connections back. Its second rule is limitPacedWindow.
const ReceiveWindow Limit = "receive-window"

var limitReceiveWindow = limitRule{ReceiveWindow, restraint{
	held:  func(g record.TCPGrowth) float64 { return g.ReceiveWindowS },
	of:    otherEnd,
	words: func(_, other string) string { return "the receive window of the " + other + " held them back" },
}.prove, meanReceiveWindow}

// When the other end's receive window counts as the limit although the kernel
// charges less than half of the time to it (specification §5). A sender that paces
// itself, as under bbr, or that waits for one large segment's worth of room is
// held back by a window without waiting at it: the kernel then charges a tenth
// to a half.
const (
	windowFull    = 0.6 // of window ÷ least round trip, as for a library's windows
	windowTouched = 0.1 // of the time with data to send was charged to the window
)

// limitPacedWindow is the second rule of limit receive-window.
var limitPacedWindow = limitRule{ReceiveWindow, func(e *audit) (contract.Role, string) {
	for _, sender := range []contract.Role{contract.Server, contract.Client} {
		if proof := windowed(e, sender); proof != "" {
			return otherEnd(sender), proof
		}
	}
	return "", ""
}, meanReceiveWindow}

// windowed proves that the connections of an end carried about as much as the
// other end's receive windows let through in the least round trip, while their
// congestion control would have let more on the way and the kernel saw them
// wait for the window now and then. Nothing follows where the
// kernel does not report the windows: before Linux 5.4.
//
// The windows are those at the window's edges, the larger sum: one that grows
// is not taken for the small one that it began as. The round trip is the least
// that any connection saw: window ÷ least round trip is what no sender can
// exceed, and a queue on the way makes no link look like a window.
func windowed(e *audit, sender contract.Role) (proof string) {
	spans, g, ok := e.connections(sender)
	if !ok || g.BusyS < sending*g.SocketsS*e.activeShare() || !(g.ReceiveWindowS >= windowTouched*g.BusyS) {
		return ""
	}
	w := windowsOf(spans)
	if !(w.open > 0) || !(w.leastRTT > 0) || w.congestion < w.open {
		return ""
	}
	seconds := g.SocketsS / g.Sockets
	rate, most := g.AckedBytes/seconds, w.open/w.leastRTT.Seconds()
	if rate < windowFull*most {
		return ""
	}
	return fmt.Sprintf("the %s's %.0f connections carried %s, %s of what the receive windows of the %s, %s in all, allow at the shortest round trip of %s; they waited for these windows for %s of the time with data to send; congestion control would have allowed %s in flight; %s",
		sender, g.Sockets, quantity.FormatByteRate(rate), quantity.FormatShare(rate/most), otherEnd(sender), quantity.FormatBytes(w.open),
		quantity.FormatDuration(w.leastRTT), quantity.FormatShare(g.ReceiveWindowS/g.BusyS), quantity.FormatBytes(w.congestion), circumstances(e, sender, spans))
}

// sendWindows are what bounds the bytes on the way from an end's connections,
// summed over them, and the least round trip of any.
type sendWindows struct {
	open, congestion float64 // the receivers' windows; congestion control's
	leastRTT         time.Duration
}

func windowsOf(spans []record.Span) sendWindows {
	var w sendWindows
	least := int64(math.MaxInt64)
	for _, s := range spans {
		from, to, _ := s.TCP()
		w.open += float64(max(from.PeerWindowBytes, to.PeerWindowBytes))
		w.congestion += float64(to.CongestionWindow) * float64(to.SegmentBytes) * float64(to.Sockets)
		if to.MinRTTNs > 0 {
			least = min(least, to.MinRTTNs)
		}
	}
	if least < math.MaxInt64 {
		w.leastRTT = time.Duration(least)
	}
	return w
}

// What its name stands for in netdyno explain.
var meanReceiveWindow = Meaning{Called: "the receive window", Means: "the receive window of the other end held the connections back more than anything else", Cure: "raise net.ipv4.tcp_rmem or the option receive_buffer, or read faster"}
