package trial

import (
	"fmt"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// checkKernelCounts demands that the kernel carried over a worker's connections what
// the worker says it sent and received since it was ready. Headers, encryption and the
// messages of verification only add to the kernel's totals, and the kernel is read after
// the worker has answered, so the two sides have no window to disagree about. The kernel's
// totals may lie below the worker's by what a library held back: 1 %, or two messages per
// slot.
//
// Nothing follows where connections were reopened, whose totals are lost, nor for
// messages that may be packed.
func checkKernelCounts(e *audit) string {
	for _, g := range e.generators {
		if g.Setup == nil || packs(g) || g.Result.Counts.Redialled > 0 {
			return ""
		}
	}
	for w := range e.workers() {
		span, ok := e.window.Span(w)
		if !ok || w.Elsewhere() || w.Ready != nil && w.Ready.Foreign {
			continue
		}
		account, ok := wholeCounters(span)
		if !ok {
			continue
		}
		said := span.To.Reading.Counts
		for _, c := range []struct {
			verb          string
			said, carried float64
		}{
			{"received", float64(said.ReceivedBytes), float64(account.ReceivedBytes)},
			{"sent", float64(said.SentBytes), float64(account.AckedBytes) + float64(account.SendQueuedBytes)},
		} {
			if c.said-c.carried > max(ServerSlack*c.said, held(e)) {
				return fmt.Sprintf("%s %s %.0f bytes by its own count, but the kernel counted %.0f on its %d connections",
					w.Name, c.verb, c.said, c.carried, account.Sockets)
			}
		}
	}
	return ""
}

// packs tells whether a client's messages may be smaller on their way than it counts
// them: a codec's, which some libraries compress without being asked, those that a client
// compresses, and the replies of a server that packs them (option packed_replies).
func packs(client *record.Worker) bool {
	return client.Setup.Exchange.Message != nil || client.Setup.Options["packed_replies"] == true || client.Setup.Options["compression"] == "gzip"
}

// wholeCounters returns the TCP counters at the closing edge when it covers the
// worker's whole work: the connections are as many as before the load, and all were read.
func wholeCounters(s record.Span) (*contract.TCP, bool) {
	_, to, ok := s.TCP()
	idle := s.Worker.Idle
	if !ok || idle == nil || idle.Meter == nil || idle.Meter.TCP == nil {
		return nil, false
	}
	return to, idle.Meter.TCP.Sockets == to.Sockets && idle.Meter.TCP.Of == 0
}

// held is what all slots together may have counted and not yet given to the
// kernel, or the other way round, in bytes.
func held(e *audit) float64 {
	held := 0.0
	for _, g := range e.generators {
		if up, down, ok := g.Sizes(); ok {
			held += 2 * g.Setup.Load.Slots() * float64(max(up, down))
		}
	}
	return held
}
