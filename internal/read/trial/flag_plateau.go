package trial

import (
	"fmt"
	"time"

	"netdyno/internal/contract"
	"netdyno/internal/hist"
	"netdyno/internal/metric"
	"netdyno/internal/quantity"
	"netdyno/internal/record"
)

// The flags of service times that gather where a well-known timer ends.
const (
	PlateauTimer      = "plateau-1ms"
	PlateauDelayedACK = "plateau-40ms"
	PlateauRetransmit = "plateau-200ms"
)

// What makes a plateau of a band of service times (specification §2.3).
const (
	plateauShare = 0.05 // of all exchanges; or
	plateauTail  = 0.5  // of those that took longer than half of the band's beginning
	plateauEdge  = 4    // times as many as in bands of the same width on both sides
	plateauLeast = 10   // exchanges, as for a percentile (specification §3.2)
)

// plateau is a band of service times that a timer of the kernel or of a program
// leaves behind.
type plateau struct {
	from, to time.Duration
	trips    float64 // round trips by which the band's end lies further out
	smeared  bool    // upwards, by timers that are late themselves: only below must the band stand out
	// witness proves by counters that it is this timer; no words where they speak
	// against it, or are missing: the same times may be the work's own.
	witness func(e *audit, ends map[contract.Role]tcpEnd, inBand float64) testimony
	words   string
	warning string
	advice  string
}

// testimony is what shows that a timer held exchanges.
type testimony struct {
	words  string
	of     contract.Role // whose timer, or whose way of writing, it was; "" where either's
	likely bool          // of an end whose sockets cannot be read
}

// The bands begin where the timer does and leave room for the kernel's ticks: a
// timer of 40 ms ends after 40 to 44 ms where a tick is 4 ms.
//
// Sources: TCP_DELACK_MIN and TCP_RTO_MIN in include/net/tcp.h; RFC 896 with
// RFC 1122, section 4.2.3.2, for the first; RFC 8985, section 7, for probes of
// the third; epoll_wait(2), whose timeout counts whole milliseconds.
var (
	flagPlateauTimer = plateau{
		from: time.Millisecond, to: 1300 * time.Microsecond, smeared: true, witness: timerFired,
		words: "1 ms plateau (looks like a timer)", warning: "have service times that gather at 1 ms, as behind a timer",
		advice: "look for a wait of 1 ms in the server's or the client's loop",
	}.flag(PlateauTimer)
	plateauDelayedACK = plateau{
		from: 39 * time.Millisecond, to: 54 * time.Millisecond, witness: ackDelayed,
		words: "40 ms plateau (Nagle × delayed ACK)", warning: "have service times that gather at 40 ms (Nagle × delayed ACK)",
		advice: "set TCP_NODELAY, or write each message at once",
	}
	flagPlateauDelayedACK = plateauDelayedACK.flag(PlateauDelayedACK)
	flagPlateauRetransmit = plateau{
		from: 198 * time.Millisecond, to: 222 * time.Millisecond, trips: 3, witness: timedOut,
		words: "200 ms plateau (retransmission timeout)", warning: "have service times that gather at 200 ms (retransmission timeout)",
		advice: "look for what loses packets on the way; with few in flight nothing tells the sender sooner",
	}.flag(PlateauRetransmit)
)

// flag makes the flag of a band.
func (p plateau) flag(name string) Flag {
	return Flag{Name: name, Changes: "some times are a timer's, not the transport's", Warning: p.warning, Advice: p.advice, raise: p.found}
}

// found says that the band holds so many exchanges that a timer must have held
// them, where the kernel's counters confirm it.
func (p plateau) found(e *audit) (why string) {
	n, took, proof := p.proven(e)
	if proof.words == "" {
		return ""
	}
	h, _ := e.window.Histogram(record.Service)
	return fmt.Sprintf("%s: %s of the exchanges took %s to %s, %s of all the time that exchanges took; %s; %s", p.words,
		quantity.FormatShare(n/float64(h.Count())), quantity.FormatDuration(p.from), quantity.FormatDuration(p.to), quantity.FormatShare(took/total(h)), proof.words, p.advice)
}

// total is how long all exchanges took together, in ns.
func total(h *hist.Histogram) float64 { return h.MeanNs() * float64(h.Count()) }

// proven returns how many exchanges a timer held, how long they took together, in ns, and
// what else shows that it was the timer; no words where nothing does.
func (p plateau) proven(e *audit) (n, took float64, proof testimony) {
	h, ok := e.window.Histogram(record.Service)
	if !ok {
		return 0, 0, testimony{}
	}
	ends := tcpEnds(e)
	trip := time.Duration(0)
	for _, end := range ends {
		trip = max(trip, end.least)
	}
	p.to += time.Duration(p.trips * float64(trip))
	if n, took = p.mass(h); n > 0 {
		proof = p.witness(e, ends, n)
	}
	return n, took, proof
}

// mass returns how many exchanges are in the band, and how long they took together, in ns;
// 0 when they do not stand out there.
func (p plateau) mass(h *hist.Histogram) (n, took float64) {
	from, to := p.from.Nanoseconds(), p.to.Nanoseconds()
	if h.MaxNs() < from {
		return 0, 0
	}
	steps := h.Steps()
	inside, took := steps.Within(from, to)
	if inside < plateauLeast {
		return 0, 0
	}
	below, _ := steps.Within(2*from-to, from)
	above, _ := steps.Within(to, 2*to-from)
	if p.smeared {
		above = 0
	}
	tail, _ := steps.Within(from/2, hist.MaxNs+1)
	n = float64(inside)
	if n < plateauEdge*float64(below+above) || n < plateauShare*float64(h.Count()) && n < plateauTail*float64(tail) {
		return 0, 0
	}
	return n, took
}

// tcpEnd is what the kernel counted at one end of the connections in the
// window.
type tcpEnd struct {
	segments, retransmits float64
	received              float64 // segments with data; 0 where that was not read
	receivedBytes         float64
	segmentBytes          float64       // the largest to send
	smoothed, least       time.Duration // round trips: the mean at the close, the least of any
}

// tcpEnds returns the ends of which there is an account.
func tcpEnds(e *audit) map[contract.Role]tcpEnd {
	ends := map[contract.Role]tcpEnd{}
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		spans, g, ok := e.connections(role)
		if !ok {
			continue
		}
		ends[role] = tcpEnd{
			segments: g.SentSegments, retransmits: g.Retransmits, least: windowsOf(spans).leastRTT,
			received: g.ReceivedSegments, receivedBytes: g.ReceivedBytes, segmentBytes: largestSegment(spans),
			smoothed: quantity.Microseconds(e.values[string(role)+"."+metric.TCPRTT]),
		}
	}
	return ends
}

func largestSegment(spans []record.Span) (bytes float64) {
	for _, s := range spans {
		if _, to, ok := s.TCP(); ok {
			bytes = max(bytes, float64(to.SegmentBytes))
		}
	}
	return bytes
}

// near tells whether the way was short beside the timer, as the client's own
// kernel saw it, and how many segments all ends sent again.
func near(ends map[contract.Role]tcpEnd, timer time.Duration) (retransmits float64, ok bool) {
	client, ok := ends[contract.Client]
	for _, end := range ends {
		retransmits += end.retransmits
	}
	return retransmits, ok && client.least > 0 && client.least < timer/4
}

// unexplained is the share of a band's exchanges of which retransmissions may
// be the cause before they are not a timer's own.
const unexplained = 0.25

// timerFired holds where nothing else takes a millisecond: the way is short,
// no thread computes, nothing was sent again and no link rate sets the pace.
func timerFired(e *audit, ends map[contract.Role]tcpEnd, inBand float64) testimony {
	const idle = 0.5
	retransmits, ok := near(ends, time.Millisecond)
	if rate := e.window.Record.Trial.Levels["link.rate"]; !ok || retransmits > unexplained*inBand || rate != "" && rate != "max" {
		return testimony{}
	}
	top := e.busiestThread(workerGroup.withoutSteal)
	if top > idle {
		return testimony{}
	}
	return testimony{words: fmt.Sprintf("the least round trip was %s and the busiest thread had %.0f %%, so that neither the way nor a CPU took it",
		quantity.FormatDuration(ends[contract.Client].least), 100*top)}
}

// ackDelayed holds where an end sends a message in several segments and waits
// for the acknowledgement of the first: its round trips, which end with
// acknowledgements, are then far longer than the least one. Of a server that
// nobody accounts for it is likely where replies came in several segments that one
// would have held: a server that computes for 40 ms and writes once sends one.
func ackDelayed(e *audit, ends map[contract.Role]tcpEnd, inBand float64) testimony {
	const (
		waited = 4 * time.Millisecond // a tenth of the timer
		parts  = 1.5                  // segments per exchange
	)
	retransmits, ok := near(ends, 10*waited)
	if !ok || retransmits > unexplained*inBand {
		return testimony{}
	}
	exchanges := 0.0
	for _, g := range e.generators {
		exchanges += float64(g.Result.Counts.Exchanges) // without a result there is no histogram
	}
	for _, role := range []contract.Role{contract.Server, contract.Client} {
		end, known := ends[role]
		if each := end.segments / exchanges; known && end.smoothed >= waited && each >= parts {
			return testimony{of: role, words: fmt.Sprintf("the %s sent %.1f segments per exchange and waited %s for acknowledgements where the least round trip was %s, with %.0f retransmissions in all",
				role, each, quantity.FormatDuration(end.smoothed), quantity.FormatDuration(end.least), retransmits)}
		}
	}
	_, known := ends[contract.Server]
	client := ends[contract.Client]
	if each := client.received / exchanges; !known && each >= parts && client.receivedBytes/exchanges < client.segmentBytes {
		return testimony{of: contract.Server, likely: true, words: fmt.Sprintf("likely on the server's side, whose sockets cannot be read: replies of %s came in %.1f segments each, where one has room for %s, and the least round trip was %s",
			quantity.FormatBytes(client.receivedBytes/exchanges), each, quantity.FormatBytes(client.segmentBytes), quantity.FormatDuration(client.least))}
	}
	return testimony{}
}

// timedOut holds where as many segments were sent again as exchanges lasted for
// the timeout, give or take what the other, unaccounted end may have sent.
func timedOut(_ *audit, ends map[contract.Role]tcpEnd, inBand float64) testimony {
	const borne = 0.5
	retransmits, ok := near(ends, 200*time.Millisecond)
	if !ok || retransmits < borne*inBand {
		return testimony{}
	}
	return testimony{words: fmt.Sprintf("the kernels sent %.0f segments again in the window, and %.0f exchanges lasted so long; the least round trip was %s",
		retransmits, inBand, quantity.FormatDuration(ends[contract.Client].least))}
}
