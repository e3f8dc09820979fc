package trial

import (
	"fmt"
	"math"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// When what waits in front of a link is a queue of the link's (specification §5).
// Round trips grow for other reasons as well: a CPU that sleeps, an acknowledgement
// that is put off, a reader that is slow. They add less than a millisecond, or
// no more than a few segments are on the way meanwhile, or what came lies unread.
const (
	queueGrown    = 0.5                   // of the round trip was not there when the queue was empty
	queueLeast    = time.Millisecond      // that it grew by
	queueBusy     = 10 * time.Millisecond // the same where CPUs are full, so that either end may be late
	queueSegments = 10                    // that it held, over all connections: more than one acknowledgement is put off for
	queueWaits    = 0.5                   // of the packets that an interface sent found that its rate allowed no more
)

// limitLinkQueue is the rule of limit link that one trial alone can prove. It stands
// before latency: a reply that waits for its link does not wait for the other end.
var limitLinkQueue = limitRule{Link, func(e *audit) (contract.Role, string) {
	for _, sender := range []contract.Role{contract.Server, contract.Client} {
		if proof := waitedForLink(e, sender); proof != "" {
			if cpu, _ := fullHost(e); cpu != "" {
				proof += also(HostCPU, cpu)
			}
			return "", proof
		}
	}
	return "", ""
}, meanLink}

// waitedForLink proves that what an end sent waited in front of the link for most of the
// window: the end had data on the way, and either its own interface held packets back
// because a rate allowed no more, or its round trips grew by the time that such a queue
// takes.
func waitedForLink(e *audit, sender contract.Role) (proof string) {
	spans, ok := e.window.Spans(sender)
	if !ok || !overLink(spans) {
		return ""
	}
	g, ok := record.GrowthOf(spans)
	loaded := g.SocketsS * e.activeShare()
	busy := ok && g.BusyS >= sending*loaded
	if held := heldByRate(spans); held != "" && (busy || e.values[metric.LinkRateShare] >= sending) {
		return fmt.Sprintf("the interface of the %s %s", sender, held)
	}
	if !busy {
		return ""
	}
	if grown := grownRoundTrips(e, sender, spans, g); grown != "" {
		return fmt.Sprintf("the %s's %.0f connections had data to send for %s of the window, and %s", sender, g.Sockets, quantity.FormatShare(min(g.BusyS/loaded, 1)), grown)
	}
	return ""
}

// heldByLink returns the share of its rate that a link carried, where an end's interface
// held packets back for the link; else 0. The share of the rate is also the share of the
// time for which the link was busy.
func heldByLink(e *audit) float64 {
	for _, sender := range []contract.Role{contract.Server, contract.Client} {
		if spans, ok := e.window.Spans(sender); ok && overLink(spans) && heldByRate(spans) != "" {
			return e.values[metric.LinkRateShare]
		}
	}
	return 0
}

// overLink tells whether all spans' traffic went over an interface that is no loopback.
func overLink(spans []record.Span) bool {
	for _, s := range spans {
		if name, ok := s.BusiestInterface(); !ok || name == record.Loopback {
			return false
		}
	}
	return true
}

// heldByRate proves by the queueing disciplines of the senders' interfaces that
// packets waited for a rate; "" where they did not, or have none.
func heldByRate(spans []record.Span) string {
	waits, packets, waiting, drops := 0.0, 0.0, 0.0, 0.0
	for _, s := range spans {
		name, _ := s.BusiestInterface()
		before, _ := s.From.Meter.Interfaces.Of(name)
		after, _ := s.To.Meter.Interfaces.Of(name)
		if before.Queue == nil || after.Queue == nil {
			return ""
		}
		waits += record.Growth(before.Queue.Waits, after.Queue.Waits)
		packets += record.Growth(before.SentPackets, after.SentPackets)
		drops += record.Growth(before.Queue.Drops, after.Queue.Drops)
		waiting += float64(after.Queue.WaitingBytes)
	}
	if !(packets > 0) || waits < queueWaits*packets {
		return ""
	}
	return fmt.Sprintf("held packets back %.0f times while %.0f left (%s waited there at the end, %.0f packets were dropped)",
		waits, packets, quantity.FormatBytes(waiting), drops)
}

// grownRoundTrips proves a queue by what it adds to round trips: at both edges of the
// window, times the rate, it is most of what was on the way.
func grownRoundTrips(e *audit, sender contract.Role, spans []record.Span, g record.TCPGrowth) string {
	seconds := g.SocketsS / g.Sockets
	rate, segment := g.AckedBytes/seconds, 0.0
	least, grown := time.Duration(math.MaxInt64), time.Duration(math.MaxInt64)
	for _, s := range spans {
		from, to, _ := s.TCP()
		if !(from.MinRTTNs > 0) || !(to.MinRTTNs > 0) {
			return ""
		}
		segment = max(segment, float64(to.SegmentBytes))
		least = min(least, time.Duration(to.MinRTTNs))
		for _, at := range []*contract.TCP{from, to} {
			grown = min(grown, time.Duration(at.RTTNs-to.MinRTTNs))
		}
	}
	unread, ok := e.unreadAt(otherEnd(sender))
	held := grown.Seconds() * rate
	enough := queueLeast
	if len(fullCPUs(e)) > 0 {
		enough = queueBusy
	}
	if !ok || grown < enough || float64(grown) < queueGrown*float64(grown+least) || held < queueSegments*segment || unread > held/2 {
		return ""
	}
	return fmt.Sprintf("their round trips took %s longer than the shortest, %s: %s waited on the way, at %s, and %s lay unread at the %s",
		quantity.FormatDuration(grown), quantity.FormatDuration(least), quantity.FormatBytes(held), quantity.FormatByteRate(rate), quantity.FormatBytes(unread), otherEnd(sender))
}
