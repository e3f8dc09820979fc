package trial

import (
	"fmt"
	"math"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// ServerSlack is the share of the work by which the two ends' counters may differ
// beside what was in flight, and beside what passed while their windows did not
// overlap.
const ServerSlack = 0.01

// checkServerCounts compares what the server counted between its marks with what the
// clients' work makes. Each end answers a mark when it has time to, so the windows of the
// two ends differ in place and length; a server's may even outlast the load.
func checkServerCounts(e *audit) string {
	servers, ok := e.window.Spans(contract.Server)
	if !ok {
		return ""
	}
	var exchanges, received, sent amounts
	for _, s := range servers {
		if s.Worker.Ready != nil && s.Worker.Ready.Foreign {
			return ""
		}
		from, to := s.From.Reading.Counts, s.To.Reading.Counts
		exchanges.server += float64(to.Exchanges) - float64(from.Exchanges)
		received.server += float64(to.ReceivedBytes) - float64(from.ReceivedBytes)
		sent.server += float64(to.SentBytes) - float64(from.SentBytes)
	}
	for _, g := range e.generators {
		up, down, ok := g.Sizes()
		if !ok {
			return ""
		}
		shift := shift(e, g, servers)
		exchanges.addClient(g, g.Result.Counts.Exchanges, 1, shift)
		received.addClient(g, workOf(g, g.Result.Counts.SentBytes, up), up, shift)
		sent.addClient(g, workOf(g, g.Result.Counts.ReceivedBytes, down), down, shift)
	}
	ups, downs := directions(e)
	switch {
	case ups && received.disagree():
		return fmt.Sprintf("the server received %.0f bytes, but the clients' exchanges make %.0f", received.server, received.clients)
	case downs && sent.disagree():
		return fmt.Sprintf("the server sent %.0f bytes, but the clients' exchanges make %.0f", sent.server, sent.clients)
	case exchanges.server > 0 && exchanges.disagree(): // a server that sees no boundaries may leave them out
		return fmt.Sprintf("the server counted %.0f exchanges, the clients %.0f", exchanges.server, exchanges.clients)
	}
	return ""
}

// amounts are what both ends counted of one thing.
type amounts struct{ server, clients, slack float64 }

// addClient enters a client's work, in exchanges of the given size.
func (b *amounts) addClient(g *record.Worker, amount, size int64, shift float64) {
	work := float64(amount)
	b.clients += work
	b.slack += max(2*g.Setup.Load.Slots()*float64(size), ServerSlack*work) + shift*work
}

// disagree tells whether the ends disagree.
func (b *amounts) disagree() bool { return math.Abs(b.server-b.clients) > b.slack }

// workOf returns the bytes of one direction of a client's work: exchanges × size, and what
// was counted of a foreign client, as its directions differ, and where sizes vary.
func workOf(g *record.Worker, counted, size int64) int64 {
	if Foreign(g) || g.Varies() {
		return counted
	}
	return g.Result.Counts.Exchanges * size
}

// directions tells which way the ends' bytes can be compared: both, but where a
// foreign client streams, the way it streams.
func directions(e *audit) (up, down bool) {
	up, down = true, true
	for _, g := range e.generators {
		if Foreign(g) {
			toServer, toClient := streamed(g)
			up, down = up && toServer > 0, down && toClient > 0
		}
	}
	return up, down
}
