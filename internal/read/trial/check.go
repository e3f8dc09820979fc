package trial

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"netdyno/internal/contract"
	"netdyno/internal/record"
)

// inconsistency returns why the trial's counters contradict each other, "" when
// they agree (METHOD §2.2).
func inconsistency(e *audit) string {
	for _, check := range []func(*audit) string{
		complete, failures, verified, clocks, due, clientBytes,
		checkServerCounts, interfaceBytes, checkKernelCounts, histogramCounts, overfull,
	} {
		if reason := check(e); reason != "" {
			return reason
		}
	}
	return ""
}

// complete demands a result with a window and work in it of every client, and
// that no worker told of a fatal error.
func complete(e *audit) string {
	if len(e.generators) == 0 {
		return "no client left an account"
	}
	for _, g := range e.generators {
		switch r := g.Result; {
		case r == nil:
			return g.Name + " left no result"
		case r.ToNs <= r.FromNs:
			return fmt.Sprintf("%s counted a window of %d ns", g.Name, r.ToNs-r.FromNs)
		case r.Counts.Exchanges <= 0:
			return g.Name + " completed no exchange in the window"
		}
		if err := g.Result.Check(); err != nil {
			return g.Name + ": " + err.Error()
		}
	}
	for _, w := range e.window.Record.Workers {
		for _, failure := range w.Errors {
			if failure.Fatal {
				return w.Name + " reported " + failure.Error()
			}
		}
	}
	return ""
}

// failures taints a trial in which exchanges failed: what remained is another
// load than the one declared.
func failures(e *audit) string {
	total, kinds := failed(e)
	if total == 0 {
		return ""
	}
	return fmt.Sprintf("%d exchanges failed (%s)", total, strings.Join(kinds, ", "))
}

// failed counts the exchanges that failed by the clients' accounts, and names
// how.
func failed(e *audit) (total int64, kinds []string) {
	for _, g := range e.generators {
		if g.Result == nil {
			continue
		}
		for kind, n := range g.Result.Counts.Errors {
			total += n
			kinds = append(kinds, string(kind))
		}
	}
	slices.Sort(kinds)
	return total, slices.Compact(kinds)
}

// verified demands the one checked message per connection of METHOD §1.3,
// where something comes down that a client can check. A foreign client cannot:
// flag unverified says so.
func verified(e *audit) string {
	for _, g := range e.generators {
		_, down, ok := g.Sizes()
		if g.Role != contract.Client || g.Ready == nil || !ok || down <= 0 || Foreign(g) {
			continue
		}
		if g.Ready.Verified < g.Ready.Connections {
			return fmt.Sprintf("%s verified %d of its %d connections", g.Name, g.Ready.Verified, g.Ready.Connections)
		}
	}
	return ""
}

// clientBytes demands exchanges × size, give or take what was in flight at
// the window's edges.
func clientBytes(e *audit) string {
	for _, g := range e.generators {
		up, down, ok := g.Sizes()
		if !ok {
			continue
		}
		if Foreign(g) {
			if reason := streamedBytes(g); reason != "" {
				return reason
			}
			continue
		}
		exchanges, slack := float64(g.Result.Counts.Exchanges), Slots(g.Setup.Load)
		for _, end := range []struct {
			verb      string
			got, size int64
		}{
			{"received", g.Result.Counts.ReceivedBytes, down},
			{"sent", g.Result.Counts.SentBytes, up},
		} {
			want := exchanges * float64(end.size)
			if math.Abs(float64(end.got)-want) > slack*float64(end.size) {
				return fmt.Sprintf("%s %s %d bytes, but %.0f exchanges of %d make %.0f",
					g.Name, end.verb, end.got, exchanges, end.size, want)
			}
		}
	}
	return ""
}

// How far the two ends' counters may differ beside what is in flight: a share of
// the work, and what passes while their windows do not overlap, as far as that
// can be believed.
const (
	ServerSlack = 0.01
	maxShift    = 0.25 // of a window
)

// checkServerCounts compares what the server counted between its marks with what the
// clients' work makes. The ends answer marks when they come to it, so their
// windows differ in place and length; a server's may even outlast the load.
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
		exchanges.add(g, g.Result.Counts.Exchanges, 1, shift)
		received.add(g, workOf(g, g.Result.Counts.SentBytes, up), up, shift)
		sent.add(g, workOf(g, g.Result.Counts.ReceivedBytes, down), down, shift)
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

// shift returns the share of a client's work that may lie outside the servers'
// window or theirs outside its own: what may pass while their lengths differ
// or, where one clock has read them, their edges lie apart, and while readings
// were late. A fixed amount is the same work whenever it is read.
func shift(e *audit, g *record.Worker, servers []record.Span) float64 {
	length := windowOf(g)
	if e.amount() || !(length > 0) {
		return 0
	}
	late, apart := 0.0, 0.0
	span, read := e.window.Span(g)
	if read {
		late = lateness(span)
	}
	for _, s := range servers {
		if seconds, ok := s.Seconds(); ok {
			edges := math.Abs(seconds - length)
			if read {
				edges = max(edges, displaced(span, s))
			}
			apart = max(apart, edges+lateness(s))
		}
	}
	return min(passes(e, g, apart+late), maxShift)
}

// brisk is the percentile of the service times by which slots come round when
// nothing holds them up.
const brisk = 0.05

// passes returns the share of a client's work that may pass in some seconds. On
// a crowded host work comes in bursts, so it is not the mean rate that bounds
// it, but all slots coming round as fast as they do at their best, and in an
// open loop what falls due in that time and what had waited longest.
func passes(e *audit, g *record.Worker, seconds float64) float64 {
	length := windowOf(g)
	even := seconds / length
	service, known := e.service(g)
	if !known || g.Setup == nil {
		return even
	}
	least, ok := service.Percentile(brisk)
	if !ok || least <= 0 {
		return even
	}
	burst := Slots(g.Setup.Load) * seconds * 1e9 / float64(least) / float64(g.Result.Counts.Exchanges)
	if responses, open := e.window.HistogramOf(g, record.Response); open {
		burst = min(burst, (seconds+float64(responses.MaxNs())/1e9)/length)
	}
	return max(even, burst)
}

// displaced is by how many seconds the meters of two workers read the edges
// apart; 0 where they have no clock in common.
func displaced(a, b record.Span) float64 {
	from, to, _, ok := a.Metered()
	otherFrom, otherTo, _, known := b.Metered()
	if !ok || !known || !a.SharesClock(b) {
		return 0
	}
	return (math.Abs(float64(from.AtNs-otherFrom.AtNs)) + math.Abs(float64(to.AtNs-otherTo.AtNs))) / 1e9
}

// lateness is by how many seconds a span's readings followed their marks.
func lateness(s record.Span) float64 {
	from, to, _, ok := s.Metered()
	if !ok {
		return 0
	}
	return (max(float64(from.SkewNs), 0) + max(float64(to.SkewNs), 0)) / 1e9
}

// amounts are what both ends counted of one thing.
type amounts struct{ server, clients, slack float64 }

// add enters a client's work, in exchanges of the given size.
func (b *amounts) add(g *record.Worker, amount, size int64, shift float64) {
	work := float64(amount)
	b.clients += work
	b.slack += max(2*Slots(g.Setup.Load)*float64(size), ServerSlack*work) + shift*work
}

// disagree tells whether the ends disagree.
func (b *amounts) disagree() bool { return math.Abs(b.server-b.clients) > b.slack }

// interfaceShare is how much of a client's payload the kernel must have seen
// on its interfaces; headers only add to it. Readings that were late are of
// another window, by the share that they were late.
const interfaceShare = 0.99

// interfaceBytes demands that what a client received crossed an interface.
// Random bytes cannot be compressed; a codec's messages can, and some libraries
// compress without being asked, so of those nothing follows.
func interfaceBytes(e *audit) string {
	for _, g := range e.generators {
		span, ok := e.window.Span(g)
		if !ok || g.Role != contract.Client || g.Setup == nil || g.Setup.Exchange.Message != nil {
			continue
		}
		from, to, length, ok := span.Metered()
		if !ok || len(from.Interfaces) == 0 {
			continue
		}
		seen := 0.0
		for name, after := range to.Interfaces {
			seen += float64(after.ReceivedBytes) - float64(from.Interfaces[name].ReceivedBytes)
		}
		if e.amount() { // the readings enclose the work, and the time around it says nothing
			length = windowOf(g)
		}
		payload := float64(g.Result.Counts.ReceivedBytes) / windowOf(g)
		// Exchanges count whole when they complete: what of them had come before the
		// window opened is the window's too.
		_, down, _ := g.Sizes()
		early := Slots(g.Setup.Load) * float64(down) / length
		if seen > 0 && seen/length < (interfaceShare-shift(e, g, nil))*payload-early {
			return fmt.Sprintf("%s says it received %.0f bytes/s, its host's interfaces %.0f", g.Name, payload, seen/length)
		}
	}
	return ""
}

// histogramCounts demands one service time per exchange that completed, in
// the window or drained after it.
func histogramCounts(e *audit) string {
	want := 0.0
	for _, g := range e.generators {
		if g.Result.Service == "" {
			return ""
		}
		want += float64(g.Result.Counts.Exchanges) + float64(g.Result.Drained)
	}
	h, ok := e.window.Histogram(record.Service)
	if !ok {
		return "a histogram of service times cannot be read"
	}
	if float64(h.Count()) != want {
		return fmt.Sprintf("%d service times were recorded for %.0f exchanges", h.Count(), want)
	}
	return ""
}

// overfull demands of each client that its slots had the time that its exchanges
// took. A slot's exchanges do not overlap; the first may have begun before the
// window by its whole service time, and draining took no longer than what was
// drained last had waited.
func overfull(e *audit) string {
	for _, g := range e.generators {
		service, ok := e.service(g)
		if !ok || g.Setup == nil {
			continue
		}
		before := float64(service.MaxNs()) / 1e9
		seconds := before + windowOf(g)
		if g.Result.Drained > 0 {
			after := before
			if responses, open := e.window.HistogramOf(g, record.Response); open {
				after = float64(responses.MaxNs()) / 1e9
			}
			seconds += after
		}
		busy := service.MeanNs() / 1e9 * float64(service.Count()) / seconds
		if slots := Slots(g.Setup.Load); busy > slots*(1+littleSlack) {
			return fmt.Sprintf("the service times put %.4g exchanges in flight in the %.4g slots of %s (Little's law)", busy, slots, g.Name)
		}
	}
	return ""
}
